import Testing

@testable import KCCryptography

@Suite("Names of servers")
struct HostNameTests {
    @Test(
        "A name, with or without the final dot, is compared as a name",
        arguments: [
            "a", "www.example.com", "WWW.Example.com", "xn--bcher-kva.example", "_x.a-b", "1.2.3.4a", "example.c0m",
        ])
    func names(text: String) {
        #expect(HostName(text) == .dns(Array(text.utf8)))
        #expect(HostName(text + ".") == .dns(Array(text.utf8)))
    }

    @Test("An address is compared as its bytes")
    func addresses() {
        #expect(HostName("192.0.2.7") == .address([192, 0, 2, 7]))
        #expect(HostName("192.0.2.7.") == .address([192, 0, 2, 7]))
        #expect(HostName("::1") == .address([UInt8](repeating: 0, count: 15) + [1]))
        #expect(HostName("2001:DB8::7") == HostName("2001:0db8:0:0:0:0:0:7"))
        #expect(HostName("::ffff:192.0.2.7") != HostName("192.0.2.7"))
    }

    @Test(
        "Anything else matches no certificate",
        arguments: [
            "", ".", "..", "a..b", ".a", "a..", "*", "*.example.com", "a b", "a\0", "\0", "bücher.example", "a/b",
            "a:b",
            "user@a", "a.1", "127.1", "0x7f.1", "2130706433", "192.0.2.7.1", "192.0.2.256", "[::1]", "fe80::1%eth0",
            "::g",
            String(repeating: "a", count: 64), String(repeating: "a.", count: 127) + "a", "a\n", "a.b\u{e9}",
        ])
    func others(text: String) {
        #expect(HostName(text) == .invalid)
    }
}
