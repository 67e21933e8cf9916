import KCTestSupport
import Testing

@testable import KCCryptography

@Suite struct PEMTests {
    private func blocks(_ text: String) throws -> [PEM.Block] { try PEM.blocks(in: Array(text.utf8).span) }

    private func isPEM(_ text: [UInt8]) -> Bool { PEM.isPEM(text.span) }

    @Test(
        "Line endings, blank lines, headers and text around the blocks are ignored",
        arguments: [
            "-----BEGIN A-----\nAQID\n-----END A-----\n", "-----BEGIN A-----\r\nAQ\r\nID\r\n-----END A-----\r\n",
            "-----BEGIN A-----\rAQID\r-----END A-----",
            "text\n\n-----BEGIN A-----  \n\n A Q\tID \n\n-----END A-----\t\nmore: text",
        ])
    func layouts(text: String) throws {
        let found = try blocks(text)
        #expect(found.map(\.label) == ["A"])
        #expect(found.map { $0.bytes.bytesForTest() } == [[1, 2, 3]])
        #expect(isPEM(Array(text.utf8)))
    }

    @Test("Blocks are returned in order with their headers, and may be empty")
    func several() throws {
        let found = try blocks(
            """
            -----BEGIN RSA PRIVATE KEY-----
            Proc-Type: 4,ENCRYPTED
            DEK-Info: AES-128-CBC,
             0011

            AQ==
            -----END RSA PRIVATE KEY-----
            -----BEGIN B-----
            -----END B-----
            """)
        #expect(found.map(\.label) == ["RSA PRIVATE KEY", "B"])
        #expect(found.map(\.headers) == ["Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,\n 0011\n", ""])
        #expect(found.map { $0.bytes.bytesForTest() } == [[1], []])
    }

    @Test(
        "A malformed block is an error and is not skipped",
        arguments: [
            "-----BEGIN A-----\nAQID", "-----BEGIN A-----\nAQID\n-----END B-----",
            "-----BEGIN A-----\nAQID\n-----END A----",
            "-----BEGIN A----\nAQID\n-----END A-----", "-----BEGIN A", "-----BEGIN", "-----BEGIN -----\n-----END -----",
            "-----END A-----",
            "-----BEGIN A-----\nAQID\n-----BEGIN A-----\nAQID\n-----END A-----",
            "-----BEGIN A-----\nAQI\n-----END A-----",
            "-----BEGIN A-----\nAQ=\n-----END A-----", "-----BEGIN A-----\n!\n-----END A-----",
            "-----BEGIN A-----\nAR==\n-----END A-----", "-----BEGIN A-----\nAQID\nX: y\n-----END A-----",
            "-----BEGIN \u{1b}[31m-----\nAQID\n-----END \u{1b}[31m-----",
            "-----BEGIN A-B-----\nAQID\n-----END A-B-----",
        ])
    func broken(text: String) {
        #expect(throws: CertificateFailure.self) { try blocks(text) }
    }

    @Test("Text without blocks yields none")
    func none() throws {
        #expect(try blocks("").isEmpty)
        #expect(try blocks("-----\n----- BEGIN A-----\n").isEmpty)
        #expect(!isPEM([0x30, 0x82]))
    }

    @Test("The number of blocks is limited")
    func bounded() {
        let text = String(
            repeating: "-----BEGIN A-----\n-----END A-----\n", count: CertificateLimit.entryCount.value + 1)
        #expect(throws: CertificateFailure.tooLarge(limit: .entryCount)) { try blocks(text) }
    }
}
