/// Why attributes do not form a valid item.
package enum ItemProblem: Error, Hashable, Sendable {
    /// No attribute has this code; the text is foreign.
    case unknownAttribute(String)
    case notInClass(AttributeCode, ItemClass)
    case wrongKind(AttributeCode)
    case missing(AttributeCode)
    case unknownAccessibility
    /// `accc` has a value that is not one of `AccessConstraint`.
    case unknownConstraint
    /// An attribute is larger than `ItemLimits.attributeSize`.
    case attributeTooLarge(AttributeCode)
    /// The attributes have this many bytes in total, more than `ItemLimits.attributesSize`.
    case attributesTooLarge(Int)
    /// The secret has this many bytes, more than `ItemLimits.secretSize`.
    case secretTooLarge(Int)
    /// There are more free attributes than `ItemLimits.extraCount`.
    case tooManyExtra(Int)
    case extraTooLarge
    /// Free attributes repeat a name or are out of order.
    case extraOutOfOrder
    /// A free attribute has a name that only kcbackup itself gives.
    case reservedExtra
    /// The item is synchronizable but bound to one device; see `Item.requireMeaningfulFlag`.
    case thisDeviceOnlySynchronizable
    /// The item is synchronizable and has a constraint, which Apple's calls refuse; see `Item.requireMeaningfulFlag`.
    case synchronizableAsks
}

extension ItemProblem {
    /// The broken rule, without foreign text.
    package var rule: String {
        switch self {
        case .unknownAttribute: "an attribute is unknown"
        case .notInClass(let code, let itemClass):
            "\(itemClass == .internetPassword ? "an" : "a") \(itemClass.name) has no attribute '\(code.code)'"
        case .wrongKind(let code): "the attribute '\(code.code)' has the wrong kind of value"
        case .missing(let code): "the attribute '\(code.code)' is missing"
        case .unknownAccessibility: "the accessibility (pdmn) is unknown"
        case .unknownConstraint: "the access control (accc) is unknown"
        case .attributeTooLarge(let code):
            "the attribute '\(code.code)' has more than \(ItemLimits.attributeSize) bytes"
        case .attributesTooLarge: "the attributes have more than \(ItemLimits.attributesSize) bytes together"
        case .secretTooLarge: "the secret has more than \(ItemLimits.secretSize) bytes"
        case .tooManyExtra: "there are more than \(ItemLimits.extraCount) free attributes"
        case .extraTooLarge: "a free attribute has more than \(ItemLimits.attributeSize) bytes"
        case .extraOutOfOrder: "the free attributes repeat a name or are out of order"
        case .reservedExtra: "a free attribute has a name that begins with 'kcbackup:' and is none of kcbackup's"
        case .thisDeviceOnlySynchronizable:
            "a synchronizable item that is ThisDeviceOnly would not leave this device anyway"
        case .synchronizableAsks: "a synchronizable item cannot ask for a passcode, which other devices do not have"
        }
    }
}
