internal import KCBackupArchive
internal import KCBackupEngine
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCReportText

// The part above the table: the archive in words and numbers.

extension ReportPage {
    private var isEncrypted: Bool { outline.header.mode == .encrypted }

    /// Where the verdicts apply.
    private var here: String {
        switch judged {
        case .here: isSameDevice ? "on this device, which made it" : "on this device"
        case .other: "on another device"
        case .device(let id): "on \(id)"
        }
    }

    /// The name and the numbers.
    var header: HTML {
        let total = counts.total
        let staying = counts.stayingBehind
        let selected: HTML =
            total == contents.counts.total
            ? ""
            : """
            <p class="note">This page was asked for some items alone: \(total) of \(contents.counts.total) are counted \
            and listed.</p>

            """
        let omitted: HTML = contents.omitted == 0 ? "" : "<li><b>\(contents.omitted)</b> in no archive</li>\n"
        return """
            <header>
            <p class="kind">\(isEncrypted ? "Encrypted archive" : "Unencrypted archive")</p>
            <h1><bdi>\(Path.split(path).name, limit: 200)</bdi></h1>
            <p class="lead">Of \(shown: source.words), made \(shown: calendar.moment(outline.header.created)).</p>
            <ul class="tally">
            <li><b>\(total)</b> \(total == 1 ? "item" : "items")</li>
            <li class="yes"><b>\(total - staying)</b> restore \(shown: here)</li>
            <li class="\(staying == 0 ? "" : "no")"><b>\(staying)</b> stay behind</li>
            \(omitted)</ul>
            <svg class="whole" role="img" aria-label="\(total - staying) restore, \(staying) stay behind">\
            <rect class="rest" width="100%" height="100%"/>\
            <rect class="part" width="\(shown: percent(total - staying, of: total))" height="100%"/></svg>
            \(selected)</header>

            """
    }

    /// The facts about the archive.
    var facts: HTML {
        let header = outline.header
        var rows: [(String, HTML)] = [
            ("File", "<bdi>\(path)</bdi>"), ("Mode", "\(header.mode.rawValue)"),
            ("Made", "\(shown: calendar.moment(header.created))"), ("Of", "\(shown: source.words)"),
            ("By device", "<code class=\"device\">\(header.device.description)</code>"),
            ("Origin", "\(shown: origin.words)"),
            ("With", "\(header.tool)"), ("Size", "\(shown: byteCount(outline.size))"),
        ]
        if isEncrypted { rows.append(("Opens with", "\(shown: outline.keyWords)")) }
        rows.append(("Archive ID", "<code>\(Hexadecimal.encode(header.archiveID))</code>"))
        let lines = rows.map { name, value -> HTML in "<dt>\(name)</dt><dd>\(value)</dd>\n" }
        return "<section class=\"card\"><h2>What it is</h2>\n<dl>\n\(lines)</dl></section>\n"
    }

    /// Where the archive restores.
    var destinations: HTML {
        let bound = counts.byTravel[.thisDevice] ?? 0
        let others: HTML
        if !isEncrypted {
            others = "<b class=\"no\">Nothing.</b> An unencrypted archive restores only on the device that made it."
        } else if outline.reach == .thisDevice {
            others = "<b class=\"no\">Nothing.</b> Only the device that made it has a key of it."
        } else if bound == 0 {
            others = """
                <b class="yes">Every item\(withItsKeys).</b> None of them is bound to its device.\(ofOneMachine)
                """
        } else {
            others = """
                <b class="no">\(counts.total - bound) of \(counts.total) items\(withItsKeys).</b> The other \(bound) \
                \(bound == 1 ? "is" : "are") ThisDeviceOnly.\(ofOneMachine)
                """
        }
        let keychain: HTML =
            source.kind == ArchiveSource.keychain
            ? "<dt>Keychain</dt><dd><bdi>\(source.name)</bdi>, unless another is named.</dd>\n" : ""
        return """
            <section class="card"><h2>Where it restores</h2>
            <dl>
            <dt>The device that made it</dt><dd><b class="yes">Every item.</b> It is \
            <code class="device">\(outline.header.device.description)</code>.</dd>
            <dt>Any other device</dt><dd>\(others)</dd>
            \(keychain)</dl></section>

            """
    }

    /// The condition on another device that has to have a key, and cannot be given a passphrase.
    private var withItsKeys: HTML {
        guard let condition = outline.reach.condition(keys: outline.secretsRecipients.count) else { return "" }
        return ", if it \(shown: condition)"
    }

    /// The sentence on the credentials that restore on any device, and open on one alone.
    private var ofOneMachine: HTML {
        let count = counts.ofOneMachine
        if count == 0 { return "" }
        return """
             \(shown: counted(count, "credential")) \(count == 1 ? "is" : "are") encrypted for the machine where \
            \(count == 1 ? "it was" : "they were") made, and \(count == 1 ? "opens" : "open") there alone.
            """
    }

    /// The items that stay behind, and why.
    var stayingBehind: HTML {
        var lines: [HTML] = Verdict.Reason.allCases.compactMap { reason in
            counts.byReason[reason].map { count in
                """
                <li><a class="no" href="\(shown: fragment("verdict", Verdict.staysBehind(reason).word))">\
                \(shown: counted(count, "item"))</a>: \(shown: reason.words).</li>

                """
            }
        }
        if lines.isEmpty { lines = ["<li>Nothing of this archive \(shown: here).</li>\n"] }
        if contents.omitted > 0 {
            lines.append(
                """
                <li><b>\(shown: counted(contents.omitted, "item"))</b> of the keychain: WhenPasscodeSetThisDeviceOnly, \
                which is in no archive.</li>

                """)
        }
        if contents.damaged > 0 {
            lines.append(
                """
                <li><b class="no">\(shown: counted(contents.damaged, "item"))</b> not in the archive: left out, or not \
                readable, when it was made.</li>

                """)
        }
        return "<section class=\"card\"><h2>What stays behind</h2>\n<ul>\n\(lines)</ul></section>\n"
    }

    /// The charts; empty if there are no items.
    var charts: HTML {
        if counts.total == 0 { return "" }
        let charts = ReportChart.all(counts).map(\.html)
        return """
            <section aria-labelledby="charts-title"><h2 id="charts-title">Items by class, accessibility, group and age</h2>
            <div class="charts">
            \(charts)</div></section>

            """
    }
}
