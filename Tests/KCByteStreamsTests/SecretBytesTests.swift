import Foundation
import KCByteStreams
import KCTestSupport
import Testing

@Suite("Secret bytes")
struct SecretBytesTests {
    private struct Stop: Error {}

    /// The contents of the memory after the bytes in use.
    private func hiddenBytes(_ secret: inout SecretBytes, _ count: Int) -> [UInt8] {
        var hidden: [UInt8] = []
        secret.append(upTo: count) { output in
            unsafe output.withUnsafeMutableBufferPointer { buffer, _ in hidden = unsafe Array(buffer) }
        }
        return hidden
    }

    @Test("Without memory for a secret, the program ends as after a failure of the system, and not as after a bug")
    func endsWithoutMemory() async {
        await #expect(processExitsWith: .exitCode(74)) {
            // More than any address space has.
            _ = SecretBytes(capacity: 1 << 60)
        }
    }

    @Test("Growing keeps every byte", arguments: [0, 1, 4095, 4096, 4097, 100_000])
    func grows(count: Int) {
        var random = SeededRandom(seed: 1)
        let bytes = random.bytes(count)
        var secret = SecretBytes(capacity: 0)
        for byte in bytes { secret.append(byte) }
        #expect(secret.count == count)
        #expect(secret.bytesForTest() == bytes)
        #expect(SecretBytes(bytes.span).bytesForTest() == bytes)
        #expect(SecretBytes(copying: bytes).bytesForTest() == bytes)
        #expect(secret.copy().bytesForTest() == bytes)
    }

    @Test("A span is appended in full, even beyond the current capacity")
    func appendsSpans() {
        var secret = SecretBytes(copying: [1, 2])
        let long = [UInt8](repeating: 3, count: 5000)
        secret.append(long.span)
        secret.append([UInt8]().span)
        #expect(secret.bytesForTest() == [1, 2] + long)
    }

    @Test("Removed bytes are wiped")
    func wipesRemoved() {
        let nines = [UInt8](repeating: 9, count: 32)
        let zeros = [UInt8](repeating: 0, count: 32)

        var all = SecretBytes(copying: nines)
        all.removeAll()
        #expect(all.bytesForTest().isEmpty)
        #expect(hiddenBytes(&all, 32) == zeros)

        var last = SecretBytes(copying: nines)
        last.removeLast(30)
        #expect(last.bytesForTest() == [9, 9])
        #expect(hiddenBytes(&last, 30) == Array(zeros.prefix(30)))

        var first = SecretBytes(copying: nines + [7, 8])
        first.removeFirst(32)
        #expect(first.bytesForTest() == [7, 8])
        #expect(hiddenBytes(&first, 32) == zeros)
    }

    @Test("Removing from the front keeps the order of the rest", arguments: [0, 1, 50, 99, 100])
    func removesFirst(length: Int) {
        let bytes = (0..<100).map { UInt8($0) }
        var secret = SecretBytes(copying: bytes)
        secret.removeFirst(length)
        #expect(secret.bytesForTest() == Array(bytes.dropFirst(length)))
    }

    @Test("An append that throws adds nothing and wipes what it wrote")
    func wipesTornReads() {
        var secret = SecretBytes(copying: [1])
        #expect(throws: Stop.self) {
            try secret.append(upTo: 16) { output throws(Stop) in
                for _ in 0..<16 { output.append(9) }
                throw Stop()
            }
        }
        #expect(secret.bytesForTest() == [1])
        #expect(hiddenBytes(&secret, 16) == [UInt8](repeating: 0, count: 16))
    }

    @Test("A reused page starts as zeros, regardless of how much of it the previous secret used")
    func reusedPages() throws {
        for _ in 0..<100 {
            var first = SecretBytes(capacity: 4096)
            first.append(upTo: 4096) { output in
                unsafe output.withUnsafeMutableBufferPointer { buffer, count in
                    unsafe buffer.initialize(repeating: 9)
                    count = 10
                }
            }
            var second = SecretBytes(capacity: 4096)
            #expect(hiddenBytes(&second, 4096) == [UInt8](repeating: 0, count: 4096))
            _ = consume first
            var third = SecretBytes(capacity: 4096)
            #expect(hiddenBytes(&third, 4096) == [UInt8](repeating: 0, count: 4096))
        }
    }

    @Test("No two secrets share a page, even when created and dropped on different threads")
    func pagesOfThreads() async {
        await withTaskGroup(of: Bool.self) { group in
            for thread in UInt8(1)...8 {
                group.addTask {
                    (0..<2_000).allSatisfy { round in
                        let bytes = [UInt8](repeating: thread, count: 64 + round % 64)
                        let one = SecretBytes(bytes.span)
                        let other = SecretBytes(bytes.span)
                        return one.bytesForTest() == bytes && other.bytesForTest() == bytes
                    }
                }
            }
            for await isWhole in group { #expect(isWhole) }
        }
    }

    @Test("Bytes can be changed in place")
    func changesInPlace() {
        var secret = SecretBytes(count: 3) { output in for byte in 1...3 { output.append(UInt8(byte)) } }
        secret.withMutableBytes { $0[1] = 7 }
        #expect(secret.bytesForTest() == [1, 7, 3])
    }

    @Test("Initializing a secret only partially stops the process")
    func refusesPartialInitialisation() async {
        await #expect(processExitsWith: .failure) {
            _ = SecretBytes(count: 2) { $0.append(1) }
        }
    }
}

extension SecretBytesTests {
    @Test("The memory is locked and excluded from core dumps, even after growing", arguments: [1, 100_000])
    func memoryIsGuarded(count: Int) throws {
        var secret = SecretBytes(capacity: 1)
        for _ in 0..<count { secret.append(7) }
        let address = secret.withBytes { bytes in
            unsafe bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        }
        // A `FileHandle` reads to the end. `Data(contentsOf:)` would trust the reported size of the file, which is 0.
        let file = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
        let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        var flags: Substring?
        var isIts = false
        for line in maps.split(separator: "\n") {
            if let range = line.prefixMatch(of: /([0-9a-f]+)-([0-9a-f]+)\x20/) {
                let start = try #require(UInt(range.1, radix: 16))
                let end = try #require(UInt(range.2, radix: 16))
                isIts = (start..<end).contains(address)
            } else if isIts, line.hasPrefix("VmFlags:") {
                flags = line
            }
        }
        let words = try #require(flags).split(separator: " ")
        #expect(words.contains("dd"), "\(words)")
        // If the system refuses to lock memory, `isLocked` is false.
        #expect(words.contains("lo") || !SecretMemory.isLocked, "\(words)")
    }
}
