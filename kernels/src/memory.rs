//! Counts the bytes that vectors have allocated: the solver's own memory.

use crate::checkerboard::Field;

/// Bytes a vector has allocated.
pub fn of<T>(v: &Vec<T>) -> usize {
    v.capacity() * size_of::<T>()
}

/// Bytes a vector of vectors has allocated.
pub fn of_nested<T>(v: &Vec<Vec<T>>) -> usize {
    of(v) + v.iter().map(of).sum::<usize>()
}

/// Bytes a field has allocated.
pub fn of_field<T>(field: &Field<T>) -> usize {
    field.iter().map(of).sum()
}
