/* Finders for plugins in C: arrays of tables and attributes of geometry by name. C99 and C++17, nothing to link.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef MENISCUS_FIND_H
#define MENISCUS_FIND_H

#include "meniscus.h"

#include <string.h>

/* The array of that name, or NULL. */
static inline const mns_array_t *mns_find_array(const mns_table_t *table, const char *name) {
    const char *at = table ? (const char *)table->arrays : NULL;
    for (uint32_t n = 0; at && n < table->array_count; ++n) {
        const mns_array_t *array = (const mns_array_t *)(const void *)at;
        if (strcmp(array->name, name) == 0) return array;
        at += array->size;
    }
    return NULL;
}

/* The numbers of an array of doubles that has at least `count` of them, or NULL. */
static inline const double *mns_find_numbers(const mns_table_t *table, const char *name, uint64_t count) {
    const mns_array_t *array = mns_find_array(table, name);
    const int fits = array && array->element == MNS_F64 && array->count * array->components >= count;
    return fits ? (const double *)array->values : NULL;
}

/* The attribute of that name on MNS_ON_POINTS ..., or NULL. */
static inline const mns_attribute_t *mns_find_attribute(const mns_geometry_t *geometry, int32_t on, const char *name) {
    const char *at = geometry ? (const char *)geometry->attributes : NULL;
    for (uint32_t n = 0; at && n < geometry->attribute_count; ++n) {
        const mns_attribute_t *attribute = (const mns_attribute_t *)(const void *)at;
        if (attribute->on == on && strcmp(attribute->name, name) == 0) return attribute;
        at += attribute->size;
    }
    return NULL;
}

/* Element `i` of an attribute to read, or to write. */
static inline const void *mns_value_of(const mns_attribute_t *attribute, uint64_t i) {
    return (const char *)attribute->values + i * attribute->stride;
}
static inline void *mns_place_of(const mns_attribute_t *attribute, uint64_t i) {
    return (char *)attribute->writable + i * attribute->stride;
}

/* Makes the array of that name in a table that is there already; 0: the host refused, and has said why. */
static inline int mns_put_numbers(mns_context_t *ctx, uint32_t port, uint32_t item, const char *name, uint32_t components,
                                  uint64_t count, const double *values) {
    mns_array_t shape;
    memset(&shape, 0, sizeof shape);
    shape.size = sizeof shape;
    shape.element = MNS_F64;
    shape.name = name;
    shape.components = components;
    shape.count = count;
    const mns_array_t *array = ctx->edit_array(ctx, port, item, &shape);
    if (!array) return 0;
    if (count > 0) memcpy(array->writable, values, (size_t)(count * components * sizeof(double)));
    return 1;
}

/* The same with whole numbers, an array of int64_t. */
static inline int mns_put_whole_numbers(mns_context_t *ctx, uint32_t port, uint32_t item, const char *name,
                                        uint32_t components, uint64_t count, const int64_t *values) {
    mns_array_t shape;
    memset(&shape, 0, sizeof shape);
    shape.size = sizeof shape;
    shape.element = MNS_I64;
    shape.name = name;
    shape.components = components;
    shape.count = count;
    const mns_array_t *array = ctx->edit_array(ctx, port, item, &shape);
    if (!array) return 0;
    if (count > 0) memcpy(array->writable, values, (size_t)(count * components * sizeof(int64_t)));
    return 1;
}

/* Makes the table at a port anew, empty. */
static inline int mns_new_table(mns_context_t *ctx, uint32_t port, uint32_t item) {
    mns_table_t shape;
    memset(&shape, 0, sizeof shape);
    shape.size = sizeof shape;
    return ctx->shape_table(ctx, port, item, &shape) != NULL;
}

#endif /* MENISCUS_FIND_H */
