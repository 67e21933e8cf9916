public import ByteStreams

/// One member of a container.
public struct TarMember: Hashable, Sendable {
    /// Its name: 1 to 100 characters of `A-Z a-z 0-9 . _ -`.
    public let name: String
    /// Where its data begins in the file.
    public let offset: UInt64
    /// Bytes of its data.
    public let length: UInt64
    /// Its time in seconds since 1970.
    public let modified: Int64
}

/// What a container holds and where; the data is then read by `FileSlice`.
public struct TarDirectory: Hashable, Sendable {
    /// The members in order.
    public let members: [TarMember]

    /// Reads the directory of a file that must be a container of the profile to its last byte.
    ///
    /// Two readers look at the file independently: a strict one that accepts exactly one spelling of each header, and
    /// libarchive. Where they disagree the file is refused.
    ///
    /// - Throws: `StreamFailure`: `truncated`, `malformed`, `limitExceeded`, `system`.
    public static func read(_ file: OpenFile) throws(StreamFailure) -> TarDirectory {
        let size: UInt64
        do {
            size = try file.size()
        } catch {
            throw StreamFailure(.readingContainer, .system(EIO))
        }
        let members = try StrictScan(file: file, size: size).members()
        try ReadingArchive(file).confirm(members)
        return TarDirectory(members: members)
    }
}

internal import Glibc

/// Reads the headers by their positions and accepts only the one spelling of `TarProfile`.
private struct StrictScan {
    let file: OpenFile
    let size: UInt64

    private static let blockSize = UInt64(TarProfile.blockSize)

    func members() throws(StreamFailure) -> [TarMember] {
        var members: [TarMember] = []
        var position: UInt64 = 0
        while true {
            // The size was asked once: what a file that is still growing gains meanwhile does not count.
            guard size - position >= Self.blockSize else {
                throw StreamFailure(.readingContainer, .truncated, offset: size)
            }
            let block = try bytes(at: position, count: TarProfile.blockSize)
            if block.allSatisfy({ $0 == 0 }) {
                try checkEnd(at: position)
                return members
            }
            guard members.count < TarProfile.memberLimit else {
                throw StreamFailure(
                    .readingContainer,
                    .limitExceeded("members", found: nil, allowed: TarProfile.memberLimit), offset: position)
            }
            let member = try member(block, at: position)
            let padding = TarProfile.padding(member.length)
            guard size - member.offset >= member.length, size - member.offset - member.length >= padding else {
                throw StreamFailure(.readingContainer, .truncated, offset: size)
            }
            position = member.offset + member.length
            guard try bytes(at: position, count: Int(padding)).allSatisfy({ $0 == 0 }) else {
                throw malformed("the padding of a member is not zero", position)
            }
            position += padding
            members.append(member)
        }
    }

    private func member(_ block: [UInt8], at position: UInt64) throws(StreamFailure) -> TarMember {
        let name = Array(block.prefix(100).prefix { $0 != 0 })
        let isPlain = name.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard !name.isEmpty, isPlain else { throw malformed("a member's name is not a plain file name", position) }
        guard let length = octal(block[124..<135]), let modified = octal(block[136..<147]) else {
            throw malformed("a number in a member's header is not octal", position)
        }
        guard block == TarProfile.header(name: name, length: length, modified: modified) else {
            throw malformed("a member's header is not that of a plain file", position)
        }
        return TarMember(
            name: String(decoding: name, as: UTF8.self), offset: position + Self.blockSize, length: length,
            modified: Int64(modified))
    }

    private func octal(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            guard (48...55).contains(digit) else { return nil }
            value = value << 3 | UInt64(digit - 48)
        }
        return value
    }

    /// The end is two zero blocks and nothing more.
    private func checkEnd(at position: UInt64) throws(StreamFailure) {
        let rest = size - position
        guard rest >= 2 * Self.blockSize else { throw StreamFailure(.readingContainer, .truncated, offset: size) }
        guard rest == 2 * Self.blockSize else { throw malformed("something follows the end of the container", position) }
        guard try bytes(at: position, count: Int(rest)).allSatisfy({ $0 == 0 }) else {
            throw malformed("the end of the container is not zero", position)
        }
    }

    private func bytes(at position: UInt64, count: Int) throws(StreamFailure) -> [UInt8] {
        try [UInt8](capacity: count) { output throws(StreamFailure) in
            while output.count < count {
                let before = output.count
                try file.read(at: position + UInt64(before), upTo: count - before, into: &output)
                if output.count == before { throw StreamFailure(.readingContainer, .truncated, offset: size) }
            }
        }
    }

    private func malformed(_ rule: String, _ position: UInt64) -> StreamFailure {
        StreamFailure(.readingContainer, .malformed(rule), offset: position)
    }
}
