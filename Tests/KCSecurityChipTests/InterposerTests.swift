import Foundation
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCTestSupport
import Testing

@testable import KCSecurityChip

@Suite(
    "Something between the program and the TPM", .waitsForPrograms,
    .enabled(if: SoftwareTPM.isInstalled, Comment(rawValue: SoftwareTPM.missing)))
struct InterposerTests {
    private let tpm: SoftwareTPM
    private let folder: TemporaryFolder
    private let secret = (0..<32).map { UInt8(truncatingIfNeeded: $0 &* 91 &+ 5) }

    init() throws {
        tpm = try SoftwareTPM()
        folder = try TemporaryFolder()
    }

    /// A program that passes everything on, except that it changes a byte of the answers to one command.
    ///
    /// - Parameters:
    ///   - command: the number of the command (TPM 2.0 Library, part 2, TPM_CC).
    ///   - place: the byte of the answer, from its end.
    private func chip(changing place: Int, inAnswersTo command: UInt32) throws -> QueuedChip {
        let script = """
            import os, socket, struct, sys
            tpm = socket.socket(socket.AF_UNIX)
            tpm.connect(sys.argv[1])
            def whole(read):
                head = b""
                while len(head) < 10:
                    part = read(10 - len(head))
                    if not part: sys.exit()
                    head += part
                body = b""
                size = struct.unpack(">I", head[2:6])[0] - 10
                while len(body) < size: body += read(size - len(body))
                return head + body
            while True:
                command = whole(lambda size: os.read(0, size))
                tpm.sendall(command)
                answer = bytearray(whole(tpm.recv))
                if struct.unpack(">I", command[6:10])[0] == int(sys.argv[2]): answer[-int(sys.argv[3])] ^= 1
                os.write(1, answer)

            """
        try folder.write("interposer.py", Array(script.utf8))
        let words = "\(folder.path("interposer.py")) \(tpm.socket) \(command) \(place)"
        return QueuedChip("python3 \(words)")
    }

    @Test("It is noticed if it changes what the TPM answers in the session", arguments: [1, 10, 40])
    func changedAnswer(place: Int) throws {
        let sealed = try tpm.chip.seal(SecretBytes(copying: secret))
        let unseal: UInt32 = 0x15e
        #expect(throws: ChipFailure.tampered) { _ = try chip(changing: place, inAnswersTo: unseal).unseal(sealed) }
        // A resource manager would forget what is loaded when the connection breaks off.
        try tpm.stop()
        try tpm.start()
        let create: UInt32 = 0x153
        #expect(throws: ChipFailure.tampered) {
            _ = try chip(changing: place, inAnswersTo: create).seal(SecretBytes(copying: secret))
        }
        try tpm.stop()
        try tpm.start()
        // An interposer can pass everything on and learn nothing: no answer to another command is changed here.
        let quiet = try chip(changing: 1, inAnswersTo: 0)
        #expect(try quiet.unseal(sealed).bytesForTest() == secret)
    }

    @Test("A key of its own in place of the TPM's is refused before anything is sent under it")
    func otherKey() throws {
        let sealed = try tpm.chip.seal(SecretBytes(copying: secret))
        let createPrimary: UInt32 = 0x131
        // Before the last five bytes, the answer has the name of the key, and further ahead its public part.
        for place in [10, 30, 240] {
            #expect(throws: ChipFailure.tampered, "\(place)") {
                _ = try chip(changing: place, inAnswersTo: createPrimary).unseal(sealed)
            }
            try tpm.stop()
            try tpm.start()
        }
        let other = try SoftwareTPM()
        #expect(throws: ChipFailure.otherChip) { _ = try other.chip.unseal(sealed) }
        // The number of the command that starts a session, which would come before anything else.
        #expect(try !other.log().contains("00000176"))
        _ = try tpm.chip.unseal(sealed)
        #expect(try tpm.log().contains("00000176"))
    }
}
