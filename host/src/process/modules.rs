//! Finds the plugin whose code a thread runs, also in a signal handler: by the addresses where plugins lie.

#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Most plugins that are known by their addresses.
#[cfg(target_os = "linux")]
const MOST: usize = 64;
/// Most bytes of a stack that are looked through.
#[cfg(target_os = "linux")]
const DEEPEST: usize = 1 << 20;

/// Where a plugin's segments lie, and its name.
#[cfg(target_os = "linux")]
struct Module {
    begin: AtomicUsize,
    end: AtomicUsize,
    /// A string that is never freed.
    name: AtomicPtr<String>,
}

#[cfg(target_os = "linux")]
static MODULES: [Module; MOST] = [const {
    Module {
        begin: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        name: AtomicPtr::new(std::ptr::null_mut()),
    }
}; MOST];
#[cfg(target_os = "linux")]
static KNOWN: AtomicUsize = AtomicUsize::new(0);

/// Notes where a plugin lies that has been opened: the library that holds this address. It is never closed.
pub(crate) fn note_module(inside: *const std::ffi::c_void, name: &str) {
    #[cfg(target_os = "linux")]
    if let Some((begin, end)) = linux::extent(inside as usize) {
        let number = KNOWN.fetch_add(1, Ordering::SeqCst);
        if let Some(module) = MODULES.get(number) {
            module.name.store(Box::into_raw(Box::new(name.to_owned())), Ordering::SeqCst);
            module.begin.store(begin, Ordering::SeqCst);
            module.end.store(end, Ordering::SeqCst);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (inside, name);
}

/// The plugin that holds an address; safe in a signal handler.
#[cfg(target_os = "linux")]
fn holder(address: usize) -> Option<&'static str> {
    let holds =
        |m: &&Module| (m.begin.load(Ordering::SeqCst)..m.end.load(Ordering::SeqCst)).contains(&address);
    let module = MODULES.iter().find(holds)?;
    // SAFETY: set before the addresses were, and never freed.
    unsafe { module.name.load(Ordering::SeqCst).as_ref() }.map(String::as_str)
}

/// The plugin whose code a thread ran: the one that holds the instruction, else the one of the nearest caller, as far as
/// the stack from `stack` on tells. Safe in a signal handler.
#[cfg(target_os = "linux")]
pub(super) fn running(instruction: usize, stack: usize) -> Option<&'static str> {
    const WORD: usize = size_of::<usize>();
    let from = stack & !(WORD - 1);
    let to = linux::end_of_mapping(from).unwrap_or(from).min(from.saturating_add(DEEPEST));
    let callers = (from..to).step_by(WORD).map(|at| {
        // SAFETY: a word of a mapping that can be read; other threads may change it meanwhile.
        unsafe { (at as *const usize).read_volatile() }
    });
    std::iter::once(instruction).chain(callers).find_map(holder)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::{c_int, c_void};

    /// An address that is looked for, and the library around it.
    struct Search {
        address: usize,
        found: Option<(usize, usize)>,
    }

    /// The first and the last address of the library that holds an address.
    pub(super) fn extent(address: usize) -> Option<(usize, usize)> {
        let mut search = Search { address, found: None };
        // SAFETY: `look` gets what it expects.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
        search.found
    }

    unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
        // SAFETY: the system hands over a library and its segments, and the search that was given to it.
        let (search, base, segments) = unsafe {
            let info = &*info;
            let segments = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
            (&mut *search.cast::<Search>(), info.dlpi_addr as usize, segments)
        };
        let loaded = segments.iter().filter(|s| s.p_type == libc::PT_LOAD);
        let of = |s: &libc::Elf64_Phdr| (base + s.p_vaddr as usize, base + (s.p_vaddr + s.p_memsz) as usize);
        let extent = loaded.map(of).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        search.found = search.found.or(extent.filter(|e| (e.0..e.1).contains(&search.address)));
        c_int::from(search.found.is_some())
    }

    /// Where the mapping that holds an address ends, as `/proc/self/maps` says; safe in a signal handler.
    pub(super) fn end_of_mapping(address: usize) -> Option<usize> {
        // SAFETY: plain system calls on a file of this process; the bytes outlive them.
        let file = unsafe { libc::open(c"/proc/self/maps".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
        if file < 0 {
            return None;
        }
        let (mut bytes, mut line, mut found) = ([0u8; 4096], Line::default(), None);
        while found.is_none() {
            // SAFETY: as above.
            let length = unsafe { libc::read(file, bytes.as_mut_ptr().cast(), bytes.len()) };
            let Some(length) = usize::try_from(length).ok().filter(|n| *n > 0) else { break };
            let holds = |&byte: &u8| line.hear(byte).filter(|(begin, end)| (*begin..*end).contains(&address));
            found = bytes[..length].iter().find_map(holds);
        }
        // SAFETY: as above.
        unsafe { libc::close(file) };
        found.map(|(_, end)| end)
    }

    /// A line of `/proc/self/maps` as its letters come: `55d0-55e0 r-xp …`.
    #[derive(Default)]
    struct Line {
        begin: usize,
        end: usize,
        /// Which number comes: the first, the second, none any more.
        number: u8,
    }

    impl Line {
        /// The range of addresses, once it is complete.
        fn hear(&mut self, byte: u8) -> Option<(usize, usize)> {
            let digit = char::from(byte).to_digit(16).map(|d| d as usize);
            match (byte, digit, self.number) {
                (b'\n', ..) => *self = Self::default(),
                (b'-', _, 0) => self.number = 1,
                (b' ', _, 1) => {
                    self.number = 2;
                    return Some((self.begin, self.end));
                }
                (_, Some(digit), 0) => self.begin = self.begin << 4 | digit,
                (_, Some(digit), 1) => self.end = self.end << 4 | digit,
                _ => {}
            }
            None
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn an_address_tells_the_library_and_a_stack_its_callers() {
        let here = tests::an_address_tells_the_library_and_a_stack_its_callers as *const ();
        assert_eq!(holder(here as usize), None);
        note_module(here.cast(), "this test");
        assert_eq!(holder(here as usize), Some("this test"));
        let stack = [0usize, 7, here as usize, 9];
        let from = stack.as_ptr() as usize;
        assert!(linux::end_of_mapping(from).is_some_and(|end| end > from));
        assert_eq!(running(8, from), Some("this test"));
        assert_eq!(running(here as usize, 8), Some("this test"));
        assert_eq!(linux::end_of_mapping(8), None);
    }
}
