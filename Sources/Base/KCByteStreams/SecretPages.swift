internal import Glibc

/// Whole memory pages for a secret, locked and excluded from core dumps.
///
/// The owner must wipe them and release them exactly once.
@safe struct SecretPages {
    /// The address of the first byte; all bytes start as zero.
    let start: UnsafeMutableRawPointer
    /// The size of the pages in bytes.
    let size: Int
    private let isMapped: Bool
    /// The process that has locked them; nil if the system refused.
    private let lockedBy: Int?

    // With larger system pages, `mmap` and `munmap` both round up in the same way.
    private static let page = SparePages.size

    /// Allocates pages for `count` bytes.
    ///
    /// Both the number of mappings (`vm.max_map_count`) and the address space are limited. When `mmap` fails, the heap
    /// usually still has room, which is enough to report what was done. If it has none either, the process ends.
    init(holding count: Int) {
        let (rounded, overflow) = count.addingReportingOverflow(Self.page - 1)
        precondition(!overflow, "a secret of that size cannot exist")
        size = rounded & ~(Self.page - 1)
        if size == SparePages.size, let spare = unsafe SparePages.take() {
            unsafe start = spare
            isMapped = true
            lockedBy = ProcessMark.current
            return
        }
        let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        if let memory = unsafe memory, unsafe memory != MAP_FAILED {
            unsafe start = memory
            isMapped = true
        } else {
            unsafe start = Self.fromHeap(size)
            isMapped = false
        }
        // Locking can fail under a small RLIMIT_MEMLOCK; the bytes may then reach swap (SECURITY.md).
        if unsafe mlock(start, size) == 0 {
            lockedBy = ProcessMark.current
        } else {
            lockedBy = nil
            SecretMemory.noteUnlocked()
        }
        unsafe madvise(start, size, MADV_DONTDUMP)
    }

    func release() {
        if size == SparePages.size, isMapped, let lockedBy {
            // Wipes the full pages, since a library call that failed may have written beyond the bytes in use.
            unsafe explicit_bzero(start, size)
            if unsafe SparePages.keep(start, of: lockedBy) { return }
        }
        if isMapped {
            unsafe munmap(start, size)
        } else {
            unsafe munlock(start, size)
            unsafe madvise(start, size, MADV_DODUMP)
            unsafe free(start)
        }
    }

    private static func fromHeap(_ size: Int) -> UnsafeMutableRawPointer {
        var memory: UnsafeMutableRawPointer?
        guard unsafe posix_memalign(&memory, page, size) == 0, let memory = unsafe memory else { endWithoutMemory() }
        unsafe memset(memory, 0, size)
        return unsafe memory
    }

    /// Ends the process with a message: the initializer cannot throw, and a trap would not give the reason.
    private static func endWithoutMemory() -> Never {
        let words: StaticString =
            "error: no memory is left; raise the limit on memory ('ulimit -v'), or end other programs\n"
        _ = unsafe write(2, words.utf8Start, words.utf8CodeUnitCount)
        // EX_IOERR of sysexits(3), as for any other want of memory: 1 would mean a bug.
        _exit(74)
    }
}
