internal import KCAgeEncryption
internal import KCSecretShares

extension KitSheet {
    /// Returns the blocks on the sheet of a share, up to how to see who made a backup.
    func blocks(of share: SecretShare, _ scheme: ShareScheme) -> [Block] {
        let (number, needed, count) = (share.memberIndex + 1, scheme.needed, scheme.count)
        return [
            .title("\(Self.beginning)\(kit.fingerprint): SHARE \(number) OF \(count)"),
            .text([
                "Any \(needed) of its \(count) shares open every backup that was made for this kit, on any",
                "machine; fewer tell nothing. Keep each share at another place, and none of",
                "them with the machine or its backups.",
            ]),
            .lines(facts), .heading("THE WORDS"), .secret,
            .text([
                "The first four letters of a word are enough. The last three words prove the",
                "others, so mistakes are noticed. A photo of this sheet is a copy of the share.",
            ]),
            .heading("TO RESTORE"),
            .lines([
                "kcbackup restore ARCHIVE -i tty      asks for the words of \(needed) shares",
                "kcbackup recovery check ARCHIVE      tries it without restoring: once a year",
            ]),
            .text([
                "Without kcbackup: the words are shares of SLIP-39. With the Python package",
                "shamir-mnemonic, this takes the words of \(needed) shares, a line each, and prints",
                "the key, for a file 'key.txt' that nobody else can read:",
            ]),
            .lines(Self.script(needed, kit.keyKind)),
        ] + opening
    }

    /// Returns the Python script that combines shares to an identity: SLIP-39, then Bech32.
    static func script(_ needed: Int, _ kind: NativeIdentity.Kind) -> [String] {
        [
            "from shamir_mnemonic import combine_mnemonics",
            "s = combine_mnemonics([input() for _ in range(\(needed))])",
            "A, P = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l', '\(kind.prefix.lowercased())'",
            "G = 996825010, 642813549, 513874426, 1027748829, 705979059",
            "v = [int(s.hex(), 16) << 4 >> 5 * i & 31 for i in range(51, -1, -1)]",
            "c = 1",
            "p = [ord(a) >> 5 for a in P] + [0] + [ord(a) & 31 for a in P]",
            "for x in p + v + [0] * 6:",
            "    b, c = c >> 25, (c & 33554431) << 5 ^ x",
            "    for i in range(5): c ^= G[i] * (b >> i & 1)",
            "v += [(c ^ 1) >> 5 * i & 31 for i in range(5, -1, -1)]",
            "print((P + '1' + ''.join(A[x] for x in v)).upper())",
        ]
    }
}
