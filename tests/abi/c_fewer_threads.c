/* Preloaded into the program: of the threads that a process asks for so many begin (FEWER_THREADS), and no more, as
 * where a limit of the system is reached. With FEWER_THREADS_BEHIND only the process that does the work has so few.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

typedef int create_t(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                                          void *(*run)(void *), void *data) {
    static int begun, most = -1, known;
    static create_t *real;
    if (!known) {
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
        const char *few = getenv("FEWER_THREADS");
        if (few && (!getenv("FEWER_THREADS_BEHIND") || getenv("MENISCUS_BEHIND"))) most = atoi(few);
        known = 1;
    }
    if (most >= 0 && __sync_fetch_and_add(&begun, 1) >= most) return EAGAIN;
    return real(thread, attributes, run, data);
}
