internal import Glibc
internal import Synchronization

/// Locked pages that secrets have given back, kept for the next ones: to map, lock and unmap a page takes longer than to
/// seal a secret in it.
///
/// Pages in here are wiped. A child process starts without any, since memory locks are not inherited.
@safe enum SparePages {
    /// Bytes of each: room for almost every secret and for all keys.
    static let size = 4096
    // Pages: more than a call of the Security library holds at a time, and 128 KiB of what may be locked.
    private static let count = 32

    /// Addresses; 0 where there is none.
    nonisolated(unsafe) private static let slots: UnsafeMutablePointer<Atomic<UInt>> = {
        let slots = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: count)
        for slot in 0..<count { unsafe (slots + slot).initialize(to: Atomic(0)) }
        return unsafe slots
    }()
    /// The process whose memory locks they have.
    private static let owner = Atomic<Int32>(0)

    /// A locked page of zeros, or nil if there is none.
    static func take() -> UnsafeMutableRawPointer? {
        let process = getpid()
        let isInherited = owner.exchange(process, ordering: .acquiringAndReleasing) != process
        for slot in 0..<count {
            guard let page = unsafe taken(from: slots + slot) else { continue }
            if !isInherited { return unsafe page }
            unsafe munmap(page, size)
        }
        return nil
    }

    /// Keeps a wiped, locked page of `process`; false if it is another one's, or if there is no room.
    static func keep(_ page: UnsafeMutableRawPointer, of process: Int32) -> Bool {
        guard process == getpid(), process == owner.load(ordering: .acquiring) else { return false }
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
