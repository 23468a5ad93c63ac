//! Tables: named typed arrays, bytes included.

use super::{Array, next_stamp};
use std::sync::Arc;

/// One named array of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Numbers per row: 1 for a scalar, 3 for a vector.
    pub components: usize,
    /// The values, `[row][component]`.
    pub values: Arc<Array>,
    /// Equal stamp, same values.
    pub value_id: u64,
}

/// Named typed arrays of any lengths: bubble identities, coupling state, a library's serialised world.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Columns in the order they were made; names are unique.
    pub columns: Vec<Column>,
}

impl Table {
    /// Sets or replaces a column.
    pub fn set(&mut self, name: &str, components: usize, values: Array) {
        let column =
            Column { name: name.to_owned(), components, values: Arc::new(values), value_id: next_stamp() };
        match self.columns.iter_mut().find(|c| c.name == name) {
            Some(old) => *old = column,
            None => self.columns.push(column),
        }
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// The first number of a column.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.column(name)?.values.get(0)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(|c| c.values.bytes()).sum()
    }
}
