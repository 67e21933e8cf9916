import KCKeychainModel
import Testing

@Suite struct VerdictTests {
    /// The rules as a table: accessibility, then the verdicts for an encrypted archive (same device, other device) and
    /// an unencrypted one (same device, other device).
    static let table: [(Accessibility, [Verdict])] = {
        let portable: [Verdict] = [.restores, .restores, .restores, .staysBehind(.unencryptedElsewhere)]
        let bound: [Verdict] = [
            .restores, .staysBehind(.thisDeviceOnly), .restores, .staysBehind(.unencryptedElsewhere),
        ]
        let nowhere = [Verdict](repeating: .staysBehind(.inNoArchive), count: 4)
        return [
            (.whenUnlocked, portable), (.afterFirstUnlock, portable), (.always, portable),
            (.whenUnlockedThisDeviceOnly, bound), (.afterFirstUnlockThisDeviceOnly, bound),
            (.alwaysThisDeviceOnly, bound), (.whenPasscodeSetThisDeviceOnly, nowhere),
        ]
    }()

    @Test("Every verdict matches the table", arguments: table)
    func verdict(accessibility: Accessibility, expected: [Verdict]) {
        let found = [(ArchiveMode.encrypted, true), (.encrypted, false), (.unencrypted, true), (.unencrypted, false)]
            .map { mode, isSame in Verdict.decide(accessibility, in: mode, onSameDevice: isSame) }
        #expect(found == expected)
    }

    @Test("The table and the codes cover every accessibility")
    func complete() {
        #expect(Self.table.map(\.0) == Accessibility.allCases)
        #expect(Accessibility.allCases.map(\.rawValue) == ["ak", "ck", "dk", "aku", "cku", "dku", "akpu"])
        #expect(Accessibility.allCases.filter(\.isThisDeviceOnly).map(\.rawValue) == ["aku", "cku", "dku", "akpu"])
        #expect(Accessibility.allCases.filter(\.isReadableWithoutPasscode).map(\.rawValue) == ["dk", "dku"])
        #expect(
            Accessibility.allCases.map { Travel($0) }.map(\.rawValue)
                == ["any-device", "any-device", "any-device", "this-device", "this-device", "this-device", "nowhere"])
    }
}
