internal import KCByteStreams
internal import KCCryptography
internal import KCKeychainKeys
internal import KCKeychainModel

extension Keychain {
    /// Reseals every live item under other class keys, one row in memory at a time.
    ///
    /// A row that is not a valid item, or whose seal is broken, is left unchanged: resealing must not legitimize it.
    /// Tombstones have no secret.
    ///
    /// - Returns: the items of the unchanged rows, nil for a row that is not a valid item.
    /// - Throws: `interrupted` after a signal, or a failure of the file.
    func resealAllItems(
        under keys: ClassKeys, in database: Database, _ step: () -> Void
    ) throws(KeychainStoreError) -> [Item?] {
        var damaged: [Item?] = []
        var sealer = try sealing(ItemSealer())
        var secret = SecretBytes(capacity: 4096)
        var blob = SecretBytes(capacity: 4096)
        var builder = AttributesBuilder()
        try ItemTables(database).requireSound()
        for itemClass in ItemClass.allCases {
            let row = ItemRow.of(itemClass)
            // A single row at a time, since no statement may iterate over a table that is being changed.
            let next = try SQLStatement(row.rowFromNumber, on: database)
            let update = try SQLStatement(row.resealing, on: database)
            var number = Int64.min
            while true {
                if Interruption.isRequested { throw .interrupted }
                try next.bind(number, 1)
                guard try next.step() else { break }
                number = row.number(next)
                if !row.isTombstone(next) {
                    let item = row.item(next, &builder)
                    var isWhole = false
                    if let item, let old = classKeys.openingKey(item.protection),
                        let new = keys.sealingKey(item.protection)
                    {
                        sealer.begin(item)
                        isWhole = try row.withData(next) { bytes throws(KeychainStoreError) in
                            try sealing(sealer.open(bytes, under: old, into: &secret))
                        }
                        if isWhole {
                            try secret.withBytes { bytes throws(KeychainStoreError) in
                                try sealing(sealer.seal(bytes, under: new, into: &blob))
                            }
                            try blob.withBytes { bytes throws(KeychainStoreError) in try update.bind(bytes, 1) }
                            try update.bind(number, 2)
                            try update.run()
                        }
                    }
                    if !isWhole { damaged.append(item) }
                    step()
                }
                next.reset()
                if number == .max { break }
                number += 1
            }
            next.reset()
        }
        return damaged
    }
}
