/// The class of an item; the raw value is Apple's class code.
package enum ItemClass: String, CaseIterable, Hashable, Comparable, Sendable {
    case genericPassword = "genp"
    case internetPassword = "inet"
    case certificate = "cert"
    case key = "keys"

    /// The order in archives and tables: the order of declaration.
    package static func < (left: ItemClass, right: ItemClass) -> Bool {
        left.position < right.position
    }

    /// The index in `allCases`.
    package var position: Int {
        switch self {
        case .genericPassword: 0
        case .internetPassword: 1
        case .certificate: 2
        case .key: 3
        }
    }

    /// The class in words, for one item.
    package var name: String {
        switch self {
        case .genericPassword: "generic password"
        case .internetPassword: "internet password"
        case .certificate: "certificate"
        case .key: "key"
        }
    }
}
