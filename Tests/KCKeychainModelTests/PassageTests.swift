import KCKeychainModel
import Testing

@Suite("Items that are bound to this device")
struct PassageTests {
    private enum Binding: CaseIterable {
        case none, device, passcode

        static func of(_ accessibility: Accessibility) -> Binding {
            switch accessibility {
            case .whenUnlocked, .afterFirstUnlock, .always: .none
            case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly: .device
            case .whenPasscodeSetThisDeviceOnly: .passcode
            }
        }
    }

    /// The expected table: where an item comes from, how it is bound, and what happens to it in a keychain, an archive,
    /// a kept state, the keyring of the desktop and an export.
    private static let table: [(Passage.Source, Binding, [Passage])] = [
        (.keychain, .none, [.moves, .moves, .moves, .moves, .moves]),
        (.keychain, .device, [.moves, .moves, .moves, .givesUpBinding, .stays(.thisDeviceOnly)]),
        (.keychain, .passcode, [Passage](repeating: .stays(.passcodeBound), count: 5)),
        (.desktopKeyring, .none, [.moves, .moves, .moves, .moves, .moves]),
        (.desktopKeyring, .device, [.moves, .moves, .moves, .moves, .stays(.thisDeviceOnly)]),
        (
            .desktopKeyring, .passcode,
            [.stays(.passcodeBound), .stays(.passcodeBound), .moves, .moves, .stays(.passcodeBound)]
        ),
        (.itemList, .none, [.moves, .moves, .moves, .moves, .moves]),
        (.itemList, .device, [.moves, .moves, .moves, .givesUpBinding, .stays(.thisDeviceOnly)]),
        (.itemList, .passcode, [.moves] + [Passage](repeating: .stays(.passcodeBound), count: 4)),
        (.foreignFile, .none, [.moves, .moves, .moves, .moves, .moves]),
        (.foreignFile, .device, [Passage](repeating: .stays(.boundElsewhere), count: 5)),
        (.foreignFile, .passcode, [Passage](repeating: .stays(.passcodeBound), count: 5)),
    ]

    @Test("Every pair of places is in the table, and every accessibility passes as the table says")
    func everyPair() throws {
        #expect(Self.table.count == Passage.Source.allCases.count * Binding.allCases.count)
        #expect(Passage.Target.allCases == [.keychain, .archive, .keptState, .desktopKeyring, .export])
        for accessibility in Accessibility.allCases {
            let item = try item(.genericPassword, accessibility)
            for source in Passage.Source.allCases {
                let rows = Self.table.filter { $0.0 == source && $0.1 == Binding.of(accessibility) }
                #expect(rows.count == 1)
                let found = Passage.Target.allCases.map { Passage.decide(item, from: source, to: $0) }
                #expect(found == rows.first?.2, "\(accessibility) from \(source)")
            }
        }
    }

    @Test("What archives hold, and what they call bound to this device, follows from the same rules")
    func archives() throws {
        for accessibility in Accessibility.allCases {
            let moves =
                try Passage.decide(item(.genericPassword, accessibility), from: .keychain, to: .archive) == .moves
            #expect(moves == (Travel(accessibility) != .nowhere))
        }
    }

    private func item(
        _ itemClass: ItemClass, _ accessibility: Accessibility, _ more: [AttributeCode: AttributeValue] = [:],
        secretSize: Int? = 1, extra: [ExtraAttribute] = []
    ) throws -> Item {
        var draft = ItemDraft(itemClass: itemClass)
        draft.attributes[.pdmn] = .text(accessibility.rawValue)
        for (code, value) in more { draft.attributes[code] = value }
        draft.extra = extra
        return try draft.completed(now: .reference, secretSize: secretSize)
    }

    @Test(
        "Exports hold no item that is bound to this device, whatever its class",
        arguments: ItemClass.allCases, Accessibility.allCases)
    func departure(itemClass: ItemClass, accessibility: Accessibility) throws {
        let expected: Departure =
            switch Binding.of(accessibility) {
            case .none: .leaves
            case .device: .stays(.thisDeviceOnly)
            case .passcode: .stays(.passcodeBound)
            }
        #expect(try Departure.decide(item(itemClass, accessibility)) == expected)
    }

    @Test("An item that a kept state has apart has its own accessibility for people and for every rule")
    func keptApart() throws {
        for accessibility in Accessibility.allCases {
            let item = try item(.genericPassword, accessibility, extra: [ExtraAttribute(name: "~", value: "")])
            let kept = try item.keptApart()
            #expect(kept.accessibility == accessibility)
            #expect(kept.isKeptApart == (accessibility == .whenPasscodeSetThisDeviceOnly))
            #expect(
                Travel(kept.sealingAccessibility) != .nowhere
                    && kept.protection.accessibility == kept.sealingAccessibility)
            for source in Passage.Source.allCases {
                for target in Passage.Target.allCases {
                    #expect(
                        Passage.decide(kept, from: source, to: target) == Passage.decide(item, from: source, to: target)
                    )
                }
            }
            #expect(Departure.decide(kept) == Departure.decide(item))
            #expect(try kept.keptApart().isKeptApart == kept.isKeptApart)
        }
    }

    @Test("Exports hold no key that must not be extracted, nothing of a token, and no item without a password")
    func otherReasons() throws {
        for accessibility in Accessibility.allCases where Binding.of(accessibility) == .none {
            #expect(try Departure.decide(item(.key, accessibility, [.extr: .number(0)])) == .stays(.notExtractable))
            #expect(try Departure.decide(item(.key, accessibility, [.extr: .number(1)])) == .leaves)
            for itemClass in ItemClass.allCases {
                let onToken = try item(itemClass, accessibility, [.tkid: .text("com.apple.setoken")])
                #expect(Departure.decide(onToken) == .stays(.onToken))
            }
            for itemClass in [ItemClass.genericPassword, .internetPassword] {
                let negative = try item(itemClass, accessibility, [.nega: .number(1)], secretSize: nil)
                #expect(Departure.decide(negative) == .stays(.negative))
                #expect(try Departure.decide(item(itemClass, accessibility, [.nega: .number(1)])) == .leaves)
            }
        }
    }
}
