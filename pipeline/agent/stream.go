package agent

import (
	"errors"

	"parley/pipeline/schema"
	"parley/pipeline/tool"
)

// Stream is where the audio of an agent's calls is sent while they go on.
type Stream struct {
	URL     string            `json:"url,omitempty"`     // wss://…; empty: nowhere
	Tracks  string            `json:"tracks,omitempty"`  // "inbound", "outbound" or "both"; empty: both
	Headers map[string]string `json:"headers,omitempty"` // values may hold {{secret.NAME}}
}

func streamSchema() *schema.Schema {
	return schema.Form("Send the audio of the agent's calls to a WebSocket while they go on, in the messages of Twilio's Media Streams. Inform callers where the law says so.", []*schema.Schema{
		schema.Text("Where it is sent, a wss address on the public Internet; empty: nowhere.", 2000).
			Named("url", "Address", schema.Entry{Label: "WebSocket that hears its calls while they go on", Placeholder: "wss://example.com/calls",
				Hint: "It gets the messages of Twilio’s Media Streams. Inform callers where the law says so."}),
		schema.OneOf("What is sent: what the person on the line says, what they hear, or both; both.", "inbound", "outbound", "both").Otherwise("both").
			Named("tracks", "What is sent", schema.Entry{Choices: [][2]any{{"both", "Both sides"}, {"inbound", "What the person on the line says"}, {"outbound", "What they hear"}}}),
		headers(),
	}).Named("stream", "Stream", schema.Entry{})
}

// checkStream says what no schema can.
func (s *Settings) checkStream(wrong *schema.Mistakes) {
	if s.Stream == nil || s.Stream.URL == "" || wrong.Within("settings.stream") {
		return
	}
	to := tool.Socket{URL: s.Stream.URL, Headers: s.Stream.Headers}
	if m, bad := errors.AsType[schema.Mistake](to.Check()); bad {
		wrong.Add("settings.stream."+m.Path, "%s", m.Problem)
	}
}
