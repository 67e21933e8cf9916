import Testing

@testable import KCKernelKeyring

@Suite struct KeyListTests {
    private func seconds(_ serial: Int32, _ list: String) -> Int? {
        KeyList.remainingSeconds(of: serial, in: Array(list.utf8).span)
    }

    @Test(
        "The timeout in the list is read in every unit",
        arguments: [
            ("perm", nil), ("expd", 0), ("0s", 0), ("59s", 59), ("4m", 240), ("2h", 7200), ("3d", 259_200),
            ("52w", 31_449_600), ("s", nil), ("5", nil), ("5y", nil), ("-1s", nil), ("99999999999s", nil),
        ] as [(String, Int?)])
    func units(time: String, expected: Int?) {
        let list = """
            08b62b1f I------     1 perm 0f0b0000     0     0 keyring   .blacklist: empty
            0d5564ad I--Q---     3 \(time) 3f3f0000  1001  1001 user      kct:x: 2

            """
        #expect(seconds(0x0d55_64ad, list) == expected)
        #expect(seconds(0x08b6_2b1f, list) == nil)
        #expect(seconds(0x0d55_64ae, list) == nil)
    }

    @Test("A malformed list yields no timeout")
    func nonsense() {
        for list in ["", "\n\n", "0d5564ad", "0d5564ad\n", "0d5564ad a b\n", "zz I 3 5s\n"] {
            #expect(seconds(0x0d55_64ad, list) == nil)
        }
        #expect(seconds(1, "00000001 I--Q--- 3   7s " + String(repeating: "x", count: 10_000) + "\n") == 7)
    }
}
