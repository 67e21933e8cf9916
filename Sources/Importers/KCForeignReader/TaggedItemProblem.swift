internal import KCItemSources
internal import KCKeychainModel

extension Tagged {
    init(_ problem: ForeignContents.Problem) {
        self =
            switch problem {
            case .item(let problem): Tagged(problem)
            case .sameKey: Tagged("same-key")
            case .damaged(let rule): Tagged("damaged", [rule])
            case .kept(let rule): Tagged("kept", [rule])
            }
    }

    /// The problem of this name; nil for another one, or one without its values.
    var refusal: ForeignContents.Problem? {
        switch name {
        case "same-key": .sameKey
        case "damaged": text().map { .damaged($0) }
        case "kept": text().map { .kept($0) }
        default: itemProblem.map { .item($0) }
        }
    }

    private init(_ problem: ItemProblem) {
        self =
            switch problem {
            case .unknownAttribute(let code): Tagged("unknown-attribute", [code])
            case .notInClass(let code, let itemClass): Tagged("not-in-class", [code.code, itemClass.rawValue])
            case .wrongKind(let code): Tagged("wrong-kind", [code.code])
            case .missing(let code): Tagged("missing", [code.code])
            case .unknownAccessibility: Tagged("unknown-accessibility")
            case .unknownConstraint: Tagged("unknown-constraint")
            case .attributeTooLarge(let code): Tagged("attribute-too-large", [code.code])
            case .attributesTooLarge(let size): Tagged("attributes-too-large", [size])
            case .secretTooLarge(let size): Tagged("secret-too-large", [size])
            case .tooManyExtra(let count): Tagged("too-many-extra", [count])
            case .extraTooLarge: Tagged("extra-too-large")
            case .extraOutOfOrder: Tagged("extra-out-of-order")
            case .reservedExtra: Tagged("reserved-extra")
            case .thisDeviceOnlySynchronizable: Tagged("this-device-only-synchronizable")
            case .synchronizableAsks: Tagged("synchronizable-asks")
            }
    }

    private var itemProblem: ItemProblem? {
        let code = text().flatMap { AttributeCode(code: $0) }
        return switch name {
        case "unknown-attribute": text().map { .unknownAttribute($0) }
        case "not-in-class":
            if let code, let itemClass = text(1).flatMap(ItemClass.init(rawValue:)) {
                .notInClass(code, itemClass)
            } else {
                nil
            }
        case "wrong-kind": code.map { .wrongKind($0) }
        case "missing": code.map { .missing($0) }
        case "unknown-accessibility": .unknownAccessibility
        case "unknown-constraint": .unknownConstraint
        case "attribute-too-large": code.map { .attributeTooLarge($0) }
        case "attributes-too-large": count().map { .attributesTooLarge($0) }
        case "secret-too-large": count().map { .secretTooLarge($0) }
        case "too-many-extra": count().map { .tooManyExtra($0) }
        case "extra-too-large": .extraTooLarge
        case "extra-out-of-order": .extraOutOfOrder
        case "reserved-extra": .reservedExtra
        case "this-device-only-synchronizable": .thisDeviceOnlySynchronizable
        case "synchronizable-asks": .synchronizableAsks
        default: nil
        }
    }
}
