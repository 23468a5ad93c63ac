//! Tables, to read.

use super::{Scalar, grids::slice};
use crate::{Array, Table, read_array, text};
use std::marker::PhantomData;

/// A table to read.
#[derive(Clone, Debug)]
pub struct TableView<'a> {
    arrays: Vec<Array>,
    bytes: PhantomData<&'a [u8]>,
}

impl<'a> TableView<'a> {
    /// # Safety
    /// What `table` points to lives for `'a` and nobody writes it meanwhile.
    pub(super) unsafe fn new(table: Table) -> Self {
        // SAFETY: the arrays are there (contract).
        Self { arrays: unsafe { read_array(table.arrays, table.array_count) }, bytes: PhantomData }
    }

    /// `[count][components]` of an array; None where there is none of that name and type.
    pub fn array<T: Scalar>(&self, name: &str) -> Option<&'a [T]> {
        // SAFETY: names live as long as the view.
        let a = self.arrays.iter().find(|a| unsafe { text(a.name) } == Some(name))?;
        if a.element != T::ELEMENT {
            return None;
        }
        // SAFETY: the bytes live for 'a and are not written (construction); the type was compared.
        unsafe { slice(a.values.cast(), a.count.checked_mul(u64::from(a.components))?) }
    }

    /// The same of an array that may be left out; an error where it has another type.
    pub fn optional<T: Scalar>(&self, name: &str) -> Result<Option<&'a [T]>, String> {
        // SAFETY: names live as long as the view.
        let there = self.arrays.iter().any(|a| unsafe { text(a.name) } == Some(name));
        match self.array(name) {
            None if there => Err(format!("the array `{name}` has another type of number than it should")),
            values => Ok(values),
        }
    }

    /// The first entry of an array.
    pub fn first<T: Scalar>(&self, name: &str) -> Option<T> {
        self.array(name)?.first().copied()
    }
}
