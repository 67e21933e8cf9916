internal import Glibc

/// Secret bytes: one owner, locked into memory, excluded from core dumps, wiped on release.
///
/// The memory consists of pages from `mmap`, locked as far as `RLIMIT_MEMLOCK` allows and marked `MADV_DONTDUMP`; if
/// the system refuses another mapping, it comes from the heap. Single pages are kept for the next secret
/// (`SparePages`). Growing copies the bytes, then wipes and releases the old pages. Wiping uses `explicit_bzero`, which
/// the optimizer may not remove. Access is by closure only, so that no copy is made by accident.
@safe package struct SecretBytes: ~Copyable, @unchecked Sendable {
    private var pages: SecretPages
    /// The number of bytes that fit before the memory must grow.
    package private(set) var capacity: Int
    /// The number of bytes.
    package private(set) var count = 0

    /// Creates an empty value with room for at least `capacity` bytes.
    package init(capacity: Int) {
        precondition(capacity >= 0, "a capacity is not negative")
        pages = SecretPages(holding: max(capacity, 1))
        self.capacity = pages.size
    }

    /// Copies `bytes`.
    package init(_ bytes: borrowing Span<UInt8>) {
        self.init(capacity: bytes.count)
        append(bytes)
    }

    /// Copies `bytes`, which must be public or wiped by the caller.
    package init(copying bytes: some Sequence<UInt8>) {
        self.init(capacity: bytes.underestimatedCount)
        let isCopied: Void? = bytes.withContiguousStorageIfAvailable { buffer in
            unsafe append(buffer.span)
        }
        if isCopied == nil { for byte in bytes { append(byte) } }
    }

    /// Creates a value of `count` bytes; `initialize` must write exactly that many.
    package init<E: Error>(count: Int, initializingWith initialize: (inout OutputSpan<UInt8>) throws(E) -> Void)
        throws(E)
    {
        self.init(capacity: count)
        try append(upTo: count, initialize)
        precondition(self.count == count, "a secret must be initialized in full")
    }

    deinit {
        unsafe explicit_bzero(base, count)
        pages.release()
    }

    /// True if there are no bytes.
    package var isEmpty: Bool { count == 0 }

    /// Calls `body` with read access to the bytes.
    package borrowing func withBytes<R: ~Copyable, E: Error>(
        _ body: (borrowing Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        let bytes = unsafe UnsafeBufferPointer(start: UnsafePointer(bytePointer), count: count)
        return try body(unsafe bytes.span)
    }

    /// Calls `body` with write access to the bytes in place.
    package mutating func withMutableBytes<R: ~Copyable, E: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        let bytes = unsafe UnsafeMutableBufferPointer(start: bytePointer, count: count)
        var span = unsafe bytes.mutableSpan
        return try body(&span)
    }

    /// Adds one byte.
    package mutating func append(_ byte: UInt8) {
        if count == capacity { grow(toHold: count + 1) }
        unsafe bytePointer[count] = byte
        count += 1
    }

    /// Adds all of `bytes`.
    package mutating func append(_ bytes: borrowing Span<UInt8>) {
        if bytes.isEmpty { return }
        reserve(bytes.count)
        unsafe bytes.withUnsafeBufferPointer { source in
            guard let start = source.baseAddress else { return }
            unsafe (base + count).copyMemory(from: start, byteCount: source.count)
        }
        count += bytes.count
    }

    /// Appends what `body` writes, at most `limit` bytes; if it throws, nothing is appended and what it wrote is wiped.
    package mutating func append<E: Error>(
        upTo limit: Int, _ body: (inout OutputSpan<UInt8>) throws(E) -> Void
    ) throws(E) {
        reserve(limit)
        let room = unsafe UnsafeMutableBufferPointer(start: bytePointer + count, count: limit)
        var output = unsafe OutputSpan(buffer: room, initializedCount: 0)
        do {
            try body(&output)
        } catch {
            // Only `count` bytes are wiped later, so nothing of a partial write may remain beyond them.
            unsafe explicit_bzero(base + count, limit)
            throw error
        }
        count += unsafe output.finalize(for: room)
    }

    /// Wipes and removes all bytes; the memory is kept for reuse.
    package mutating func removeAll() {
        unsafe explicit_bzero(base, count)
        count = 0
    }

    /// Drops the first `length` bytes and moves the rest to the front.
    package mutating func removeFirst(_ length: Int) {
        precondition(length <= count, "cannot drop more bytes than there are")
        if length == 0 { return }
        let rest = count - length
        unsafe memmove(base, base + length, rest)
        unsafe explicit_bzero(base + rest, length)
        count = rest
    }

    /// Drops the last `length` bytes.
    package mutating func removeLast(_ length: Int) {
        precondition(length <= count, "cannot drop more bytes than there are")
        count -= length
        unsafe explicit_bzero(base + count, length)
    }

    /// Copies the bytes into a second value.
    package borrowing func copy() -> SecretBytes {
        withBytes { SecretBytes($0) }
    }

    /// Ensures that `additional` more bytes fit.
    package mutating func reserve(_ additional: Int) {
        if capacity - count < additional { grow(toHold: count + additional) }
    }

    private var bytePointer: UnsafeMutablePointer<UInt8> {
        unsafe base.assumingMemoryBound(to: UInt8.self)
    }

    private var base: UnsafeMutableRawPointer { unsafe pages.start }

    private mutating func grow(toHold needed: Int) {
        let larger = SecretPages(holding: max(needed, capacity * 2))
        unsafe larger.start.copyMemory(from: base, byteCount: count)
        unsafe explicit_bzero(base, count)
        pages.release()
        pages = larger
        capacity = larger.size
    }
}

/// Whether the operating system has granted the memory locks that `SecretBytes` asked for.
package enum SecretMemory {
    private static let unlockedAllocations = Atomic<Int>(0)

    /// True as long as every secret could be locked into memory.
    package static var isLocked: Bool { unlockedAllocations.load(ordering: .relaxed) == 0 }

    /// How much memory this process may lock, in bytes, whatever special rights it has; 0 if the system does not say.
    package static var lockLimit: Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0 else { return 0 }
        return Int(clamping: limit.rlim_cur)
    }

    static func noteUnlocked() {
        unlockedAllocations.add(1, ordering: .relaxed)
    }
}

internal import Synchronization
