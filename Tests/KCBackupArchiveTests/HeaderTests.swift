import KCByteStreams
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCBackupArchive

@Suite("The archive header and stream start lines")
struct HeaderTests {
    private let archiveID = [UInt8](0..<32)
    private let device = DeviceID(publicKey: [UInt8](repeating: 7, count: 32))

    private func header(_ mode: ArchiveMode) -> ArchiveHeader {
        var counts = ItemCounts()
        counts[.internetPassword] = 3
        let keychain = StoredKeychain(storeID: [UInt8](repeating: 9, count: 16), keybag: "{\"version\":1}")
        let store = ArchiveHeader.Store(keychain: keychain, counts: counts)
        return ArchiveHeader(
            archiveID: archiveID, created: .reference, device: device, tool: "kcbackup \"test\"",
            store: mode == .unencrypted ? store : nil)
    }

    private func parse(_ text: String) throws -> ArchiveHeader {
        try ArchiveHeader(parsing: Array(text.utf8).span)
    }

    private func text(_ header: ArchiveHeader) -> String {
        String(decoding: header.encoded(), as: UTF8.self)
    }

    @Test("A header reads back as written, as one JSON object and a line feed", arguments: ArchiveMode.allCases)
    func roundTrip(mode: ArchiveMode) throws {
        let header = header(mode)
        let text = text(header)
        let read = try parse(text)
        #expect(read == header)
        #expect(text.hasPrefix("{\"format\":\"kcbackup\",\"version\":1,") && text.hasSuffix("}\n"))
    }

    @Test("A newer format version is refused by its number, regardless of what follows")
    func newerVersion() {
        #expect(throws: ArchiveFailure.newerFormat(found: "2", known: 1)) {
            try parse("{\"format\":\"kcbackup\",\"version\":2,\"and\":\"more\"}")
        }
    }

    @Test("A header is refused when truncated at any byte or followed by more data")
    func truncation() {
        let whole = text(header(.unencrypted))
        for length in 0..<whole.utf8.count {
            #expect(throws: ArchiveFailure.self) {
                try parse(String(decoding: whole.utf8.prefix(length), as: UTF8.self))
            }
        }
        #expect(throws: ArchiveFailure.self) { try parse(whole + "\n") }
    }

    @Test("The first line of a stream is valid only for its own stream, archive and mode")
    func streamStart() throws {
        var line = SecretBytes(capacity: 256)
        StreamStart(kind: .secrets, archiveID: archiveID, mode: .encrypted, sealCommitment: archiveID).encode(
            into: &line)
        let bytes = line.bytesForTest()
        let other = [UInt8](archiveID.reversed())
        let read = try StreamStart(parsing: bytes.span, kind: .secrets, archiveID: archiveID, mode: .encrypted)
        #expect(read.sealCommitment == archiveID)
        #expect(throws: MalformedLine.self) {
            try StreamStart(parsing: bytes.span, kind: .metadata, archiveID: archiveID, mode: .encrypted)
        }
        #expect(throws: MalformedLine.self) {
            try StreamStart(parsing: bytes.span, kind: .secrets, archiveID: other, mode: .encrypted)
        }
        #expect(throws: MalformedLine.self) {
            try StreamStart(parsing: bytes.span, kind: .secrets, archiveID: archiveID, mode: .unencrypted)
        }
    }
}
