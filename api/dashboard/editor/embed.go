package editor

import (
	"encoding/json"
	"html"
	"net/http"
	"strings"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
)

// embedView is how an agent gets onto a page of another site.
type embedView struct {
	Agent  *wire.AgentDefinition
	Server string         // where browsers of visitors reach this server, without a final slash
	Public []embeddedName // variables that the page may set
}

// embeddedName is a variable that a page may set, with the value that counts when it does not.
type embeddedName struct{ Name, Value string }

// Tabs says which page is open.
func (v *embedView) Tabs(tab string) agentTabs { return agentTabs{v.Agent.ID, tab} }

// Tag is the line that puts the button on a page, with the variables that it may set.
func (v *embedView) Tag() (string, error) {
	variables := ""
	if len(v.Public) > 0 {
		var values object
		for _, p := range v.Public {
			values.add(p.Name, p.Value)
		}
		text, err := json.Marshal(values)
		if err != nil {
			return "", err
		}
		// JSON has &, < and > escaped in its own way already.
		variables = " data-variables='" + strings.ReplaceAll(string(text), "'", "&#39;") + "'"
	}
	return `<script src="` + v.Server + `/widget.js" data-agent-name="` + html.EscapeString(v.Agent.Name) + `" data-ticket-url="/talk-ticket"` + variables + ` async></script>`, nil
}

// ticketFor is what a session ticket of the agent is to open, as the documentation's examples ask for it: one
// conversation of five minutes.
func ticketFor(agent string) object {
	return object{{"agent_id", agent}, {"ttl_seconds", 60}, {"max_sessions", 1}, {"max_duration_seconds", 300}}
}

// Mint is the command by which the backend of the page gets a ticket.
func (v *embedView) Mint() (string, error) {
	body, err := json.Marshal(ticketFor(v.Agent.ID))
	if err != nil {
		return "", err
	}
	return "curl -sS " + v.Server + "/v1/session-tickets \\\n  -H \"Authorization: Bearer $PARLEY_API_KEY\" -H \"Content-Type: application/json\" \\\n  -d '" + string(body) + "'", nil
}

// Policy are the headers of a page that has a policy of its own.
func (v *embedView) Policy() string {
	return "Content-Security-Policy: script-src " + v.Server + "; connect-src 'self' " + v.Server + " ws" + strings.TrimPrefix(v.Server, "http") +
		"\nPermissions-Policy: microphone=(self)"
}

func embedPage(q *page.Request) error {
	a, err := agent(q)
	if err != nil {
		return err
	}
	v := &embedView{Agent: a, Server: q.Origin()}
	var settings struct {
		Variables map[string]string `json:"variables"`
		Public    []string          `json:"public_variables"`
	}
	if len(a.Settings.RawMessage) > 0 {
		err = json.Unmarshal(a.Settings.RawMessage, &settings)
	}
	for _, name := range settings.Public {
		v.Public = append(v.Public, embeddedName{name, settings.Variables[name]})
	}
	return q.Show("agent-embed", "Embed "+a.Name)(v, err)
}

// embedTicket is the backend of the button on the page: a ticket of the kind that visitors get.
func embedTicket(q *page.Request) error {
	var minted json.RawMessage
	if err := q.Call(http.MethodPost, "/v1/session-tickets", ticketFor(q.ID("id")), &minted); err != nil {
		api.WriteError(q.W, err) // a script asks
		return nil
	}
	q.W.Header().Set("Cache-Control", "no-store")
	api.WriteJSON(q.W, http.StatusOK, minted)
	return nil
}
