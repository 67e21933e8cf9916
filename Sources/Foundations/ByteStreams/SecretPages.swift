internal import Glibc

/// Whole pages for a secret: locked, and left out of core dumps.
///
/// Their owner releases them once, after wiping.
@safe struct SecretPages {
    /// The first byte, zero at first as all others.
    let start: UnsafeMutableRawPointer
    /// Their size in bytes.
    let size: Int
    private let isMapped: Bool

    // `mmap` and `munmap` round up alike where pages are larger.
    private static let page = 4096

    /// Makes pages with room for `count` bytes.
    ///
    /// A process can have as many mappings as `vm.max_map_count` says, and address space up to its limit; the heap mostly
    /// still has room then, so that what was done can be told. Where it has none either, nothing can go on.
    init(holding count: Int) {
        let (rounded, overflow) = count.addingReportingOverflow(Self.page - 1)
        precondition(!overflow, "a secret of that size cannot exist")
        size = rounded & ~(Self.page - 1)
        let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        if let memory = unsafe memory, unsafe memory != MAP_FAILED {
            unsafe start = memory
            isMapped = true
        } else {
            unsafe start = Self.fromHeap(size)
            isMapped = false
        }
        // Locking can fail under a small RLIMIT_MEMLOCK; the bytes are then as safe as swap is (SECURITY.md).
        if unsafe mlock(start, size) != 0 { SecretMemory.noteUnlocked() }
        unsafe madvise(start, size, MADV_DONTDUMP)
    }

    func release() {
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

    /// Ends the process with a sentence: an initialiser has no other way to fail, and a trap would not say why.
    private static func endWithoutMemory() -> Never {
        let words: StaticString = "error: out of memory\n"
        _ = unsafe write(2, words.utf8Start, words.utf8CodeUnitCount)
        _exit(1)
    }
}
