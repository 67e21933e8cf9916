internal import KCKeychainModel
internal import KCReportPages
internal import KCReportText

extension FleetPage {
    static let tableBeginning: HTML = """
        <div id="tools" role="search" hidden>
        <label class="wide">Search <input id="search" type="search" autocomplete="off" spellcheck="false"></label>
        <label>State <select data-condition="state"></select></label>
        <label>Job <select data-condition="job"></select></label>
        <button id="reset" type="button">Show all</button>
        </div>
        <p id="count" role="status"></p>
        <div class="frame" role="region" aria-labelledby="list-title" tabindex="0">
        <table id="items" data-noun="machines">
        <thead>
        <tr><th scope="col" data-key="machine">Machine</th><th scope="col" data-key="state" data-list>State</th>\
        <th scope="col" data-key="reported">Reported</th><th scope="col" data-key="good">Last good</th>\
        <th scope="col" data-key="items">Items</th><th scope="col" data-key="before">Before</th>\
        <th scope="col" data-key="verified">Read back</th><th scope="col" data-key="job" data-list>Job</th>\
        <th scope="col" data-key="device">Device</th></tr>
        </thead>
        <tbody>

        """

    static let tableEnd: HTML = """
        </tbody>
        </table>
        <div id="paper"></div>
        </div>
        <p id="rest" hidden><button type="button">Show the other rows</button></p>

        """

    /// Returns the row of a machine; cells have no end tags, which makes the page smaller.
    func row(_ machine: Machine) -> HTML {
        func time(_ time: Timestamp?) -> HTML { time.map { "\(shown: minute($0))" } ?? "never" }
        func number(_ number: Int?) -> HTML { number.map { "\(shown: String($0))" } ?? "" }
        let state: HTML =
            switch machine.calm {
            case let calm? where machine.reported == nil: "<td>\(shown: calm)"
            case let calm?: "<td class=\"yes\">\(shown: calm)"
            case nil: "<td class=\"no\">\(machine.states.joined(separator: ", "))"
            }
        return """
            <tr><td>\(machine.name, limit: ReportRow.cellLimit)\
            \(state)\
            <td>\(time(machine.reported))\
            <td>\(time(machine.good))\
            <td>\(number(machine.items))\
            <td>\(number(machine.before))\
            <td>\(time(machine.verified))\
            <td>\(machine.jobs, limit: ReportRow.cellLimit)\
            <td><code>\(machine.device)</code></td>

            """
    }

    /// The style: that of all tables, and the columns of this one.
    static let style: HTML = """
        \(ReportPage.commonStyle)
        .line { grid-template-columns: 6em minmax(2rem, 1fr) max-content; }
        .card dl + p { margin-top: .6rem; }
        .files { margin-bottom: 2rem; }
        .files summary { cursor: pointer; font-weight: 600; }
        .files ul { margin-top: .6rem; font-size: .9rem; overflow-wrap: anywhere; }
        th:nth-child(1) { width: 15%; } th:nth-child(2) { width: 12%; } th:nth-child(n+3) { width: 11%; }
        th:nth-child(5), th:nth-child(6) { width: 6.5%; } th:nth-child(8) { width: 11%; } th:nth-child(9) { width: 20%; }
        td:nth-child(1) { font-weight: 600; }
        td:nth-child(n+3):nth-child(-n+7) { font-variant-numeric: tabular-nums; }
        td:nth-child(5), td:nth-child(6), th:nth-child(5), th:nth-child(6) { text-align: right; }
        td:nth-child(9) code { overflow-wrap: normal; white-space: nowrap; }
        @media screen and (max-width: 46rem) {
          .card dl { display: grid; }
          .card dd { margin-bottom: 0; }
          thead th:nth-child(n) { width: auto; text-align: left; }
          td:nth-child(n) { text-align: left; }
          td:nth-child(1) { font-size: .95rem; }
          td:nth-child(2) { text-align: right; font-weight: 600; }
          td:nth-child(9) { grid-column: 1 / -1; }
          td:nth-child(n+3)::before { display: block; color: var(--faint); font-size: .7rem; }
          td:nth-child(3)::before { content: "Reported"; }
          td:nth-child(4)::before { content: "Last good"; }
          td:nth-child(5)::before { content: "Items"; }
          td:nth-child(6)::before { content: "Before"; }
          td:nth-child(7)::before { content: "Read back"; }
          td:nth-child(8)::before { content: "Job"; }
          td:nth-child(9)::before { content: "Device"; }
        }

        """
}
