internal import KCByteStreams
internal import KCKeychainKeys
internal import KCKeychainModel

/// The table layout of one item class: its SQL, and the conversion between items and rows.
struct ItemRow {
    /// The class.
    let itemClass: ItemClass
    /// The attributes in the order of their columns.
    private let columns: [(code: AttributeCode, kind: AttributeCode.Kind)]
    /// Where `selection` has the terms of the unique key, and what each is where it is NULL.
    let keyColumns: [(column: Int, absent: AttributeValue)]

    // The order of the columns in `selection`, and of the parameters (from 1) in `insertion` and `replacement`.
    private static let own = ["uuid", "tomb", "odd", "extra", "data"]
    private static let uuidColumn = 0
    private static let tombColumn = 1
    private static let oddColumn = 2
    private static let extraColumn = 3
    private static let dataColumn = 4
    private static let firstAttribute = own.count

    /// The layouts of all classes, in class order.
    static let all = ItemClass.allCases.map { ItemRow($0) }

    /// The layout of `itemClass`.
    static func of(_ itemClass: ItemClass) -> ItemRow { all[itemClass.position] }

    private init(_ itemClass: ItemClass) {
        self.itemClass = itemClass
        let codes = Schema.columns(of: itemClass)
        columns = codes.map { ($0, $0.kind) }
        keyColumns = itemClass.uniqueKey.compactMap { code in
            codes.firstIndex(of: code).map { (Self.firstAttribute + $0, Item.keyDefault(code)) }
        }
        let names = Self.own + columns.map { Schema.quoted($0.code) }
        let marks = names.map { _ in "?" }.joined(separator: ",")
        selection = "SELECT \(names.joined(separator: ",")),id FROM \(itemClass.rawValue)"
        hasKey = " WHERE " + Schema.keyTerms(of: itemClass).map { $0 + "=?" }.joined(separator: " AND ")
        insertion = "INSERT INTO \(itemClass.rawValue)(\(names.joined(separator: ","))) VALUES(\(marks))"
        replacementKey = names.count + 1
        replacement =
            "UPDATE \(itemClass.rawValue) SET \(names.map { $0 + "=?" }.joined(separator: ","))"
            + Self.hasUUID(itemClass, parameter: replacementKey)
        removal = "DELETE FROM \(itemClass.rawValue)" + Self.hasUUID(itemClass, parameter: 1)
        self.names = names.joined(separator: ",")
    }

    // MARK: SQL

    // Made once, since every change of a keychain needs them.

    /// All columns but the rowid.
    private let names: String

    /// The start of every query for rows, with all columns and the rowid; a condition or order may follow.
    let selection: String

    /// The condition for the row with a unique key; `bindKey` binds its parameters.
    let hasKey: String

    /// Inserts a row.
    let insertion: String

    /// Updates all columns of the row with a UUID, the last parameter.
    let replacement: String

    /// The index of the UUID parameter in `replacement`.
    let replacementKey: Int

    /// Removes the row with a UUID.
    let removal: String

    /// The condition for the row that the index of the UUIDs leads to, if the row itself has this UUID too.
    ///
    /// Found with a plain condition, a row would show the UUID that the index has.
    private static func hasUUID(_ itemClass: ItemClass, parameter: Int) -> String {
        " WHERE \(isLedTo(itemClass, "uuid=?\(parameter)")) AND +uuid=?\(parameter)"
    }

    /// The condition for the rows that the index of the UUIDs leads to.
    static func isLedTo(_ itemClass: ItemClass, _ condition: String) -> String {
        let name = itemClass.rawValue
        return "id IN (SELECT id FROM \(name) INDEXED BY \(name)_uuid WHERE \(condition))"
    }

    /// The condition for a tombstone.
    static let isTombstone = "(tomb = 1 AND data IS NULL)"

    /// The condition for all other rows; a flipped bit must not hide an item, so a tombstone with a secret is live.
    static let isLive = "(tomb IS NOT 1 OR data IS NOT NULL)"

    /// The condition for `Item.isLocal`.
    static let isLocal: String = {
        let bound = Accessibility.allCases.filter(\.isThisDeviceOnly)
        let codes = bound.map { code in "x'" + code.rawValue.utf8.map { String($0, radix: 16) }.joined() + "'" }
        return "(\(Schema.keyTerm(.sync)) = 0 OR \(Schema.quoted(.pdmn)) IN (\(codes.joined(separator: ","))))"
    }()

    /// The clause for the order of a query.
    func clause(for order: ItemQuery.Order) -> String {
        switch order {
        case .archive: " ORDER BY \(Schema.keyTerms(of: itemClass).joined(separator: ","))"
        case .insertion: " ORDER BY id"
        }
    }

    /// Selects rows as `selection` does, and whether the index of the UUIDs finds them.
    var numberedSelection: String {
        let name = itemClass.rawValue
        let found = "SELECT other.id FROM \(name) AS other INDEXED BY \(name)_uuid WHERE other.uuid=\(name).uuid"
        return "SELECT \(names),id,(\(found)) IS id FROM \(name)"
    }

    /// Selects the live rows as `selection` does, in the order of their rowids.
    var storedSelection: String { "\(selection) NOT INDEXED WHERE \(Self.isLive) ORDER BY id" }

    /// Selects all rows in the order of their rowids.
    var wholeSelection: String { "\(selection) NOT INDEXED ORDER BY id" }

    /// Selects the sealed secrets of the live rows.
    var sealSelection: String { "SELECT data FROM \(itemClass.rawValue) NOT INDEXED WHERE \(Self.isLive)" }

    /// The number of columns of `selection`, without the rowid.
    var columnCount: Int { Self.firstAttribute + columns.count }

    /// The first row with a rowid at or above the parameter; its rowid is `number`.
    var rowFromNumber: String { selection + " WHERE id>=? ORDER BY id LIMIT 1" }

    /// Updates the sealed secret (first parameter) of the row with a rowid (second parameter).
    var resealing: String { "UPDATE \(itemClass.rawValue) SET data=? WHERE id=?" }

    // MARK: Binding

    /// The index of the parameter for the sealed secret, which is NULL in a tombstone.
    static let dataParameter = dataColumn + 1

    /// Replaces `parameters` with the values of everything except the sealed secret.
    func fill(_ parameters: inout SQLParameters, _ item: Item, isTombstone: Bool) {
        parameters.removeAll()
        parameters.append(item.uuid.bytes.span, Self.uuidColumn + 1)
        parameters.append(isTombstone ? 1 : 0, Self.tombColumn + 1)
        var otherKinds = ""
        for (index, column) in columns.enumerated() where item.attributes.codes.contains(column.code) {
            let parameter = Self.firstAttribute + index + 1
            let hasOtherKind = item.attributes.withMember(column.code) { form, bytes in
                // Text without escapes, as most of it is, needs no text made of it.
                if form == .text {
                    parameters.append(bytes.extracting(1..<bytes.count - 1), parameter)
                } else {
                    Self.append(form.value(of: bytes), parameter, to: &parameters)
                }
                return Self.hasOtherKind(form, column.kind)
            }
            if hasOtherKind == true { otherKinds += (otherKinds.isEmpty ? "" : ",") + column.code.code }
        }
        if !otherKinds.isEmpty { parameters.append(text: otherKinds.utf8.span, Self.oddColumn + 1) }
        if !item.extra.isEmpty {
            var text: [UInt8] = []
            ExtraColumn.encode(item.extra, into: &text)
            parameters.append(text: text.span, Self.extraColumn + 1)
        }
    }

    private static func append(_ value: AttributeValue, _ index: Int, to parameters: inout SQLParameters) {
        switch value {
        case .number(let number): parameters.append(number, index)
        case .date(let date): parameters.append(date.microseconds, index)
        case .text(let text): parameters.append(text.utf8.span, index)
        case .data(let bytes): parameters.append(bytes.span, index)
        }
    }

    /// Binds the unique key of `item` to the parameters of `hasKey`, starting at index `first`.
    func bindKey(of item: Item, to statement: SQLStatement, from first: Int = 1) throws(KeychainStoreError) {
        for (index, code) in itemClass.uniqueKey.enumerated() {
            try Self.bind(item.attributes[code] ?? Item.keyDefault(code), first + index, to: statement)
        }
    }

    /// Binds an attribute value in the form that its column stores.
    static func bind(_ value: AttributeValue, _ index: Int, to statement: SQLStatement) throws(KeychainStoreError) {
        switch value {
        case .number(let number): try statement.bind(number, index)
        case .date(let date): try statement.bind(date.microseconds, index)
        case .text(let text): try statement.bindBytes(of: text, index)
        case .data(let bytes): try statement.bind(bytes.span, index)
        }
    }

    /// True if a value is not of its attribute's natural kind, which is then recorded in the column `odd`.
    private static func hasOtherKind(_ form: AttributeForm, _ kind: AttributeCode.Kind) -> Bool {
        switch (form, kind) {
        case (.data, .textOrData), (.text, .dataOrText), (.escapedText, .dataOrText): true
        default: false
        }
    }

    // MARK: Reading

    /// True if the current row of a `numberedSelection` is the one that the index finds by its UUID.
    func isFoundByUUID(_ row: SQLStatement) -> Bool { row.integer(columnCount + 1) == 1 }

    /// The rowid of the current row.
    func number(_ row: SQLStatement) -> Int64 { row.integer(columnCount) }

    /// True if the current rows of two statements have the same in all columns.
    func isEqual(_ one: SQLStatement, _ other: SQLStatement) -> Bool {
        (0..<columnCount).allSatisfy { column in
            let type = one.type(column)
            if type != other.type(column) { return false }
            return type == .null
                || one.withBytes(column) { bytes in other.withBytes(column) { bytes.isEqual(to: $0) } }
        }
    }

    /// True if a column has the sealed secret.
    func isSeal(_ column: Int) -> Bool { column == Self.dataColumn }

    /// The UUID of the current row, or nil if invalid.
    func uuid(_ row: SQLStatement) -> ItemUUID? {
        guard row.type(Self.uuidColumn) == .blob else { return nil }
        return row.withBytes(Self.uuidColumn) { ItemUUID(bytes: $0) }
    }

    /// True if the current row is a tombstone.
    func isTombstone(_ row: SQLStatement) -> Bool {
        row.type(Self.tombColumn) == .integer && row.integer(Self.tombColumn) == 1
            && row.type(Self.dataColumn) == .null
    }

    /// Passes the sealed secret of the current row to `body`; it is empty in a tombstone.
    func withData<Result: ~Copyable, E: Error>(
        _ row: SQLStatement, _ body: (borrowing Span<UInt8>) throws(E) -> Result
    ) throws(E) -> Result {
        try row.withBytes(Self.dataColumn, body)
    }

    /// The item of the current row, or nil if the row is not a valid item.
    ///
    /// - Parameter builder: an empty one, whose memory is used.
    func item(_ row: SQLStatement, _ builder: inout AttributesBuilder) -> Item? {
        guard let uuid = uuid(row), let attributes = attributes(row, &builder), let extra = extra(row) else {
            return nil
        }
        // A tombstone has no secret and no seal.
        let size: Int?
        if isTombstone(row) {
            size = nil
        } else {
            guard row.type(Self.tombColumn) == .integer, row.integer(Self.tombColumn) == 0,
                let frame = row.withBytes(Self.dataColumn, { SealedFrame(measuring: $0) })
            else { return nil }
            size = frame.secretSize
        }
        return try? Item(
            itemClass: itemClass, uuid: uuid, attributes: attributes, extra: extra, secretSize: size)
    }

    private func attributes(_ row: SQLStatement, _ builder: inout AttributesBuilder) -> Attributes? {
        builder.removeAll()
        guard let otherKinds = codesOfOtherKind(row) else { return nil }
        var othersLeft = otherKinds.count
        for (index, column) in columns.enumerated() {
            let type = row.type(Self.firstAttribute + index)
            if type == .null { continue }
            let hasOtherKind = !otherKinds.isEmpty && otherKinds.contains(column.code)
            guard append(column.code, row, Self.firstAttribute + index, type, hasOtherKind, to: &builder) else {
                return nil
            }
            if hasOtherKind { othersLeft -= 1 }
        }
        return othersLeft == 0 ? builder.finish() : nil
    }

    /// Adds the value of a column; false if it is not one.
    private func append(
        _ code: AttributeCode, _ row: SQLStatement, _ index: Int, _ type: SQLStatement.ColumnType,
        _ hasOtherKind: Bool, to builder: inout AttributesBuilder
    ) -> Bool {
        let kind = code.kind
        switch (kind, type) {
        case (.number, .integer): builder.append(code, row.integer(index))
        case (.date, .integer):
            guard let date = Timestamp(microseconds: row.integer(index)) else { return false }
            builder.append(code, date)
        case (.string, .blob), (.textOrData, .blob), (.dataOrText, .blob), (.data, .blob):
            let isText = kind == .string || (kind == .textOrData) != hasOtherKind && kind != .data
            return row.withBytes(index) { bytes in
                if isText { return builder.append(code, text: bytes) }
                builder.append(code, data: bytes)
                return true
            }
        default: return false
        }
        return true
    }

    /// The attributes whose values are not of their natural kind; nil if the column is invalid.
    private func codesOfOtherKind(_ row: SQLStatement) -> [AttributeCode]? {
        if row.type(Self.oddColumn) == .null { return [] }
        return row.withBytes(Self.oddColumn) { bytes in
            let text = String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
            let codes = text.exact.split(separator: ",", omittingEmptySubsequences: false)
            let known = codes.compactMap { AttributeCode(code: String($0)) }
            return known.count == codes.count && known.allSatisfy(Self.hasTwoForms) ? known : nil
        }
    }

    private static func hasTwoForms(_ code: AttributeCode) -> Bool { [.textOrData, .dataOrText].contains(code.kind) }

    private func extra(_ row: SQLStatement) -> [ExtraAttribute]? {
        if row.type(Self.extraColumn) == .null { return [] }
        return row.withBytes(Self.extraColumn) { bytes in try? ExtraColumn.decode(bytes) }
    }
}
