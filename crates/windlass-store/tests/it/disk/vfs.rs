//! The shim itself: a SQLite VFS that asks `State` before each call and hands it on to the real one. Its file handle is a
//! header of ours with the real handle behind it, in the one allocation that SQLite makes.

#![expect(unsafe_code, reason = "SQLite's VFS interface is C")]
#![expect(clippy::undocumented_unsafe_blocks, reason = "every block here relies on the one contract of sqlite3_vfs")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

use rusqlite::ffi::{self, sqlite3_file, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs};

use crate::disk::Op;
use crate::disk::state::{Call, State, Verdict};

/// Our part of a file handle. SQLite knows only its first field.
#[repr(C)]
struct Header {
    base: sqlite3_file,
    state: &'static State,
    /// `None`: a temporary file, which no power cut can lose anything of.
    name: Option<&'static str>,
}

/// Where the real VFS and our state hang on a registered one.
struct Registered {
    real: *mut sqlite3_vfs,
    state: &'static State,
}

pub fn register(name: CString, state: &'static State) {
    unsafe {
        let real = ffi::sqlite3_vfs_find(std::ptr::null());
        assert!(!real.is_null(), "SQLite has a default VFS");
        let registered = Box::leak(Box::new(Registered { real, state }));
        let shim = Box::leak(Box::new(sqlite3_vfs {
            iVersion: 2,
            szOsFile: c_int::try_from(size_of::<Header>()).expect("small") + (*real).szOsFile,
            mxPathname: (*real).mxPathname,
            pNext: std::ptr::null_mut(),
            zName: name.into_raw(),
            pAppData: std::ptr::from_mut(registered).cast(),
            xOpen: Some(open),
            xDelete: Some(delete),
            xAccess: Some(access),
            xFullPathname: Some(full_pathname),
            xDlOpen: None,
            xDlError: None,
            xDlSym: None,
            xDlClose: None,
            xRandomness: Some(randomness),
            xSleep: Some(sleep),
            xCurrentTime: Some(current_time),
            xGetLastError: Some(get_last_error),
            xCurrentTimeInt64: Some(current_time_int64),
            xSetSystemCall: None,
            xGetSystemCall: None,
            xNextSystemCall: None,
        }));
        assert_eq!(ffi::sqlite3_vfs_register(shim, 0), ffi::SQLITE_OK);
    }
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    // Version 3 would add memory-mapped reading, which the store does not use.
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

unsafe fn registered(vfs: *mut sqlite3_vfs) -> &'static Registered {
    unsafe { &*(*vfs).pAppData.cast() }
}

unsafe fn header(file: *mut sqlite3_file) -> &'static Header {
    unsafe { &*file.cast() }
}

unsafe fn real(file: *mut sqlite3_file) -> *mut sqlite3_file {
    unsafe { file.cast::<u8>().add(size_of::<Header>()).cast() }
}

/// Calls a method of the real file.
macro_rules! pass {
    ($file:ident, $method:ident $(, $argument:expr)*) => {
        unsafe {
            let real = real($file);
            let method = (*(*real).pMethods).$method.expect("the real VFS has it");
            method(real $(, $argument)*)
        }
    };
}

/// Calls a method of the real VFS.
macro_rules! pass_vfs {
    ($vfs:ident, $method:ident $(, $argument:expr)*) => {
        unsafe {
            let real = registered($vfs).real;
            let method = (*real).$method.expect("the real VFS has it");
            method(real $(, $argument)*)
        }
    };
}

unsafe fn file_name(path: *const c_char) -> Option<&'static str> {
    if path.is_null() {
        return None;
    }
    let path = unsafe { CStr::from_ptr(path) }.to_str().expect("tests use plain paths");
    let name = Path::new(path).file_name().and_then(|name| name.to_str()).expect("a file has a name");
    // Few names, and a file's header outlives no test.
    Some(Box::leak(name.to_owned().into_boxed_str()))
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    path: ffi::sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    unsafe {
        (*file).pMethods = std::ptr::null();
        let state = registered(vfs).state;
        if let Verdict::Fail(code) | Verdict::Half(code) = state.judge(Call::Open) {
            return code;
        }
        let real_vfs = registered(vfs).real;
        let open_real = (*real_vfs).xOpen.expect("the real VFS has it");
        let opened = open_real(real_vfs, path, real(file), flags, out_flags);
        if opened == ffi::SQLITE_OK {
            let base = sqlite3_file { pMethods: &raw const METHODS };
            file.cast::<Header>().write(Header { base, state, name: file_name(path) });
        }
        opened
    }
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    pass!(file, xClose)
}

unsafe extern "C" fn read(file: *mut sqlite3_file, buffer: *mut c_void, length: c_int, offset: sqlite3_int64) -> c_int {
    match unsafe { header(file) }.state.judge(Call::Read) {
        Verdict::Pass => pass!(file, xRead, buffer, length, offset),
        Verdict::Fail(code) | Verdict::Half(code) => code,
    }
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    buffer: *const c_void,
    length: c_int,
    offset: sqlite3_int64,
) -> c_int {
    let header = unsafe { header(file) };
    match header.state.judge(Call::Write) {
        Verdict::Pass => {
            if let Some(name) = header.name {
                let bytes = unsafe { std::slice::from_raw_parts(buffer.cast(), length as usize) };
                let offset = offset as u64;
                header.state.note(|| Op::Write { file: name.to_owned(), offset, bytes: bytes.to_vec() });
            }
            pass!(file, xWrite, buffer, length, offset)
        }
        Verdict::Fail(code) => code,
        Verdict::Half(code) => {
            pass!(file, xWrite, buffer, length / 2, offset);
            code
        }
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    let header = unsafe { header(file) };
    if let Verdict::Fail(code) | Verdict::Half(code) = header.state.judge(Call::Truncate) {
        return code;
    }
    if let Some(name) = header.name {
        header.state.note(|| Op::Truncate { file: name.to_owned(), size: size as u64 });
    }
    pass!(file, xTruncate, size)
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    let header = unsafe { header(file) };
    if let Verdict::Fail(code) | Verdict::Half(code) = header.state.judge(Call::Sync) {
        return code;
    }
    let covers = header.state.log_length();
    let synced = pass!(file, xSync, flags);
    if let (ffi::SQLITE_OK, Some(name)) = (synced, header.name) {
        header.state.note(|| Op::Sync { file: name.to_owned(), covers });
    }
    synced
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, size: *mut sqlite3_int64) -> c_int {
    pass!(file, xFileSize, size)
}

unsafe extern "C" fn lock(file: *mut sqlite3_file, level: c_int) -> c_int {
    pass!(file, xLock, level)
}

unsafe extern "C" fn unlock(file: *mut sqlite3_file, level: c_int) -> c_int {
    pass!(file, xUnlock, level)
}

unsafe extern "C" fn check_reserved_lock(file: *mut sqlite3_file, out: *mut c_int) -> c_int {
    pass!(file, xCheckReservedLock, out)
}

unsafe extern "C" fn file_control(file: *mut sqlite3_file, operation: c_int, argument: *mut c_void) -> c_int {
    pass!(file, xFileControl, operation, argument)
}

unsafe extern "C" fn sector_size(file: *mut sqlite3_file) -> c_int {
    pass!(file, xSectorSize)
}

unsafe extern "C" fn device_characteristics(file: *mut sqlite3_file) -> c_int {
    pass!(file, xDeviceCharacteristics)
}

unsafe extern "C" fn shm_map(
    file: *mut sqlite3_file,
    page: c_int,
    page_size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    if let Verdict::Fail(code) | Verdict::Half(code) = unsafe { header(file) }.state.judge(Call::SharedMemory) {
        return code;
    }
    pass!(file, xShmMap, page, page_size, extend, out)
}

unsafe extern "C" fn shm_lock(file: *mut sqlite3_file, offset: c_int, count: c_int, flags: c_int) -> c_int {
    pass!(file, xShmLock, offset, count, flags)
}

unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    pass!(file, xShmBarrier);
}

unsafe extern "C" fn shm_unmap(file: *mut sqlite3_file, delete: c_int) -> c_int {
    pass!(file, xShmUnmap, delete)
}

unsafe extern "C" fn delete(vfs: *mut sqlite3_vfs, path: *const c_char, sync_folder: c_int) -> c_int {
    let deleted = pass_vfs!(vfs, xDelete, path, sync_folder);
    if let (ffi::SQLITE_OK, Some(name)) = (deleted, unsafe { file_name(path) }) {
        unsafe { registered(vfs) }.state.note(|| Op::Delete { file: name.to_owned() });
    }
    deleted
}

unsafe extern "C" fn access(vfs: *mut sqlite3_vfs, path: *const c_char, flags: c_int, out: *mut c_int) -> c_int {
    pass_vfs!(vfs, xAccess, path, flags, out)
}

unsafe extern "C" fn full_pathname(
    vfs: *mut sqlite3_vfs,
    path: *const c_char,
    length: c_int,
    out: *mut c_char,
) -> c_int {
    pass_vfs!(vfs, xFullPathname, path, length, out)
}

unsafe extern "C" fn randomness(vfs: *mut sqlite3_vfs, length: c_int, out: *mut c_char) -> c_int {
    pass_vfs!(vfs, xRandomness, length, out)
}

unsafe extern "C" fn sleep(vfs: *mut sqlite3_vfs, micros: c_int) -> c_int {
    pass_vfs!(vfs, xSleep, micros)
}

unsafe extern "C" fn current_time(vfs: *mut sqlite3_vfs, out: *mut f64) -> c_int {
    pass_vfs!(vfs, xCurrentTime, out)
}

unsafe extern "C" fn get_last_error(vfs: *mut sqlite3_vfs, length: c_int, out: *mut c_char) -> c_int {
    pass_vfs!(vfs, xGetLastError, length, out)
}

unsafe extern "C" fn current_time_int64(vfs: *mut sqlite3_vfs, out: *mut sqlite3_int64) -> c_int {
    pass_vfs!(vfs, xCurrentTimeInt64, out)
}
