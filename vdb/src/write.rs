//! The bytes of `.vdb` files: same grids, same bytes.

use crate::content::{ID_AT, ID_LEN, identifier, is_identifier};
use crate::error::checked;
use crate::ffi;
use crate::grid::MetaTable;
use crate::{Error, GridOut, Meta};

/// The bytes of a `.vdb` file (Blosc, active values only). OpenVDB's random identifier is replaced by a hash
/// of the content, so equal grids give equal bytes.
pub fn to_bytes(grids: &[GridOut<'_>], metadata: &[(&str, Meta)]) -> Result<Vec<u8>, Error> {
    let mut raw = Vec::with_capacity(grids.len());
    let mut keep = Vec::with_capacity(grids.len());
    for grid in grids {
        let (r, k) = grid.raw()?;
        raw.push(r);
        keep.push(k);
    }
    let meta = MetaTable::new(metadata)?;
    let mut buffer = std::ptr::null_mut();
    // SAFETY: `raw` and `meta` point into `grids` and `keep`, whose lengths `raw()` checked and which outlive
    // the call; `buffer` is written only on success.
    let written = checked(|error| unsafe {
        ffi::mv_write(raw.as_ptr(), raw.len(), meta.entries.as_ptr(), meta.entries.len(), &mut buffer, error)
    });
    drop(keep);
    written.map_err(Error::OpenVdb)?;
    // SAFETY: the shim handed over a live buffer; it is copied once and freed once.
    let mut bytes = unsafe {
        let view = std::slice::from_raw_parts(ffi::mv_buffer_data(buffer), ffi::mv_buffer_size(buffer));
        let copy = view.to_vec();
        ffi::mv_buffer_free(buffer);
        copy
    };
    identify_by_content(&mut bytes)?;
    Ok(bytes)
}

/// Replaces the random identifier by a hash of everything else.
fn identify_by_content(bytes: &mut [u8]) -> Result<(), Error> {
    let Some(field) = bytes.get_mut(ID_AT..ID_AT + ID_LEN).filter(|f| is_identifier(f)) else {
        return Err(Error::OpenVdb("this OpenVDB writes a file header of another form".into()));
    };
    field.fill(b'0');
    let id = identifier(&blake3::hash(bytes));
    bytes[ID_AT..ID_AT + ID_LEN].copy_from_slice(id.as_bytes());
    Ok(())
}
