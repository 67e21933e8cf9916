internal import Glibc
internal import Synchronization

/// Locked pages that secrets have returned, kept for reuse: mapping, locking and unmapping a page takes longer than
/// sealing a secret in it.
///
/// Pages kept here are wiped. A child process starts with none, since memory locks are not inherited.
@safe enum SparePages {
    /// The size of a page in bytes: enough for almost every secret and for every key.
    static let size = 4096
    // The number of pages: more than one call of the Security library holds at a time, and 128 KiB of the lockable
    // memory.
    private static let count = 32

    /// The addresses of the pages; 0 for an empty slot.
    nonisolated(unsafe) private static let slots: UnsafeMutablePointer<Atomic<UInt>> = {
        let slots = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: count)
        for slot in 0..<count { unsafe (slots + slot).initialize(to: Atomic(0)) }
        return unsafe slots
    }()
    /// The process that holds the memory locks of these pages.
    private static let owner = Atomic<Int>(0)

    /// A locked page of zeros, or nil if there is none.
    static func take() -> UnsafeMutableRawPointer? {
        let process = ProcessMark.current
        let isInherited = owner.exchange(process, ordering: .acquiringAndReleasing) != process
        for slot in 0..<count {
            guard let page = unsafe taken(from: slots + slot) else { continue }
            if !isInherited { return unsafe page }
            unsafe munmap(page, size)
        }
        return nil
    }

    /// Keeps a wiped, locked page of `process`; false if `process` is another process, or if there is no free slot.
    static func keep(_ page: UnsafeMutableRawPointer, of process: Int) -> Bool {
        guard process == ProcessMark.current, process == owner.load(ordering: .acquiring) else { return false }
        let address = UInt(bitPattern: page)
        for slot in 0..<count {
            let atomic = unsafe slots + slot
            let isKept =
                unsafe atomic.pointee.load(ordering: .relaxed) == 0
                && atomic.pointee.compareExchange(expected: 0, desired: address, ordering: .releasing).exchanged
            if isKept { return true }
        }
        return false
    }

    private static func taken(from slot: UnsafeMutablePointer<Atomic<UInt>>) -> UnsafeMutableRawPointer? {
        guard unsafe slot.pointee.load(ordering: .relaxed) != 0 else { return nil }
        return unsafe UnsafeMutableRawPointer(bitPattern: slot.pointee.exchange(0, ordering: .acquiring))
    }
}
