import KCByteStreams
import KCCryptography
import KCExportFormats
import KCTestSupport
import Testing

@Suite("Argon2")
struct Argon2Tests {
    private func derive(
        _ kind: Argon2.Kind, _ version: Argon2.Version = .current, memoryInKiB: UInt32 = 65_536,
        salt: String = "somesalt"
    ) throws -> String {
        let cost = Argon2.Cost(iterations: 2, memoryInKiB: memoryInKiB, lanes: 1, version: version)
        let key = try Argon2.derive(
            password: SecretBytes(copying: "password".utf8), salt: Array(salt.utf8), kind, cost, count: 32)
        return key.withBytes { span in Hexadecimal.encode(span.indices.map { span[$0] }) }
    }

    @Test("Matches the test vectors of the reference implementation")
    func vectors() throws {
        #expect(try derive(.id) == "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7")
        #expect(
            try derive(.id, memoryInKiB: 256) == "9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe")
    }

    @Test("Each kind and version gives a different key")
    func differ() throws {
        let keys = try [derive(.d), derive(.id), derive(.d, .old), derive(.id, .old)]
        #expect(Set(keys).count == 4)
    }

    @Test("A salt that is too short and an invalid memory size are refused")
    func refused() throws {
        #expect(throws: CryptographyFailure.unsupportedParameters("Argon2")) { try derive(.id, salt: "short") }
        #expect(throws: CryptographyFailure.unsupportedParameters("Argon2")) { try derive(.id, memoryInKiB: 1) }
    }
}
