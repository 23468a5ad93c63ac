//! Memory that lives until a call returns.

use std::any::Any;

/// Keeps values that were handed out. Boxes do not move when the list of them grows, so their addresses stay valid.
#[derive(Default)]
pub(super) struct Arena {
    kept: Vec<Box<dyn Any>>,
}

impl Arena {
    /// Keeps a value and tells where.
    pub(super) fn keep<T: 'static>(&mut self, value: T) -> *const T {
        let boxed = Box::new(value);
        let address: *const T = &raw const *boxed;
        self.kept.push(boxed);
        address
    }

    /// Keeps a list and tells where its first element lies; null when empty.
    pub(super) fn keep_list<T: 'static>(&mut self, list: Vec<T>) -> *const T {
        if list.is_empty() {
            return std::ptr::null();
        }
        let address = list.as_ptr();
        self.kept.push(Box::new(list));
        address
    }
}
