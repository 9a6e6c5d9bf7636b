package gemini

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"parley/inference"
	"parley/inference/duplex"
	"parley/media"
)

const (
	// liveStall is how long a reply that was asked for may not begin.
	liveStall = 10 * time.Second
	// Words of a turn may come after the reply to it has begun: more of them for so long, the first for so long.
	moreWords  = 200 * time.Millisecond
	firstWords = time.Second
)

// liveConversation is what is said in one session. Gemini answers what it hears, texts and the results of
// functions in turn, and does not say what it answers: a reply that nobody has asked for answers what was heard.
type liveConversation struct {
	*live
	duplex.Order
	caller  liveCaller
	ready   bool                // the setup is complete
	handle  string              // of the session as it is now; empty: it has none
	history []inference.Message // that Gemini does not have yet
	count   int                 // replies
	reply   string              // the one in progress; empty: there is none
	cut     string              // the one of which nothing more is reported but its end
	asked   time.Time           // when the reply was that has not begun; zero: none was
	waiting []string            // replies that are to be asked for
	names   map[string]string   // of functions that wait for their results, by call
	results int                 // given, and not answered
	expires bool                // that was said
}

// liveCaller is what is heard of the caller.
type liveCaller struct {
	speaking bool
	turn     string        // the latest that is over; empty: there are words of another
	words    string        // of that turn, or of the one in progress
	more     time.Duration // how long others may take
}

// Due implements duplex.Connection.
func (c *liveConversation) Due(now time.Time) (time.Duration, error) {
	wait := c.Order.Due(now)
	if c.asked.IsZero() {
		return wait, nil
	}
	left := liveStall - now.Sub(c.asked)
	if left <= 0 {
		return 0, c.client.Fault(inference.ErrFailed, inference.ErrStalled)
	}
	return min(wait, left), nil
}

// Handle implements duplex.Connection.
func (c *liveConversation) Handle() string { return c.handle }

// Commit implements duplex.Connection: Gemini looks at all that it has heard.
func (c *liveConversation) Commit() { c.Send(object{"realtimeInput": object{"audioStreamEnd": true}}) }

// Reply implements duplex.Connection. Results of functions are answered without being asked for.
func (c *liveConversation) Reply(instructions string) {
	if instructions == "" && c.results == 0 {
		instructions = "(The caller is silent.)"
	}
	c.waiting = append(c.waiting, instructions)
	c.next()
}

// next asks for the next reply, unless there is one.
func (c *liveConversation) next() {
	if c.reply != "" || !c.asked.IsZero() || len(c.waiting) == 0 {
		return
	}
	c.asked, c.results = time.Now(), 0
	if text := c.waiting[0]; text != "" {
		c.Send(object{"realtimeInput": object{"text": text}})
	}
	c.waiting = c.waiting[1:]
}

// Interrupt implements duplex.Connection: the rest comes, and is not reported.
func (c *liveConversation) Interrupt(item string) {
	if item == c.reply {
		c.cut = item
	}
}

// Truncate implements duplex.Connection: there is no way.
func (*liveConversation) Truncate(string, time.Duration) {}

// ToolResult implements duplex.Connection.
func (c *liveConversation) ToolResult(id, output string) {
	name := c.names[id]
	if name == "" { // Gemini does not want it any more
		return
	}
	delete(c.names, id)
	c.results++
	c.Send(object{"toolResponse": object{"functionResponses": []object{{"id": id, "name": name, "response": object{"output": output}}}}})
}

// Update implements duplex.Connection: that takes another session.
func (c *liveConversation) Update(string, []inference.Tool) { c.expire() }

func (c *liveConversation) expire() {
	if !c.expires {
		c.expires = true
		c.Emit(inference.RealtimeEvent{Kind: inference.RealtimeExpires})
	}
}

// liveMessage is what counts of a message of Gemini's.
type liveMessage struct {
	Setup   *struct{} `json:"setupComplete"`
	Content *struct {
		Model struct {
			Parts []struct {
				Data struct {
					Type string `json:"mimeType"`
					Data string `json:"data"`
				} `json:"inlineData"`
			} `json:"parts"`
		} `json:"modelTurn"`
		In struct {
			Text     string `json:"text"`
			Finished bool   `json:"finished"`
		} `json:"inputTranscription"`
		Out struct {
			Text string `json:"text"`
		} `json:"outputTranscription"`
		Interrupted bool   `json:"interrupted"`
		Generated   bool   `json:"generationComplete"`
		Complete    bool   `json:"turnComplete"`
		Reason      string `json:"turnCompleteReason"`
	} `json:"serverContent"`
	Call struct {
		Functions []struct {
			ID   string          `json:"id"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCalls"`
	} `json:"toolCall"`
	Cancelled struct {
		IDs []string `json:"ids"`
	} `json:"toolCallCancellation"`
	Activity struct {
		Type string `json:"voiceActivityType"`
	} `json:"voiceActivity"`
	Usage   *liveUsage `json:"usageMetadata"`
	GoAway  *struct{}  `json:"goAway"`
	Resumes *struct {
		Handle string `json:"newHandle"`
		Can    bool   `json:"resumable"`
	} `json:"sessionResumptionUpdate"`
}

// Read implements duplex.Connection.
func (c *liveConversation) Read(text []byte) error {
	var m liveMessage
	if json.Unmarshal(text, &m) != nil {
		return c.client.Fault(inference.ErrFailed, errors.New("a message that is not JSON"))
	}
	if m.Setup != nil {
		c.ready = true
		c.seed()
	}
	if m.Activity.Type == "ACTIVITY_START" {
		c.speaks()
	}
	if m.Content != nil {
		if err := c.content(&m); err != nil {
			return err
		}
	}
	for _, id := range m.Cancelled.IDs {
		delete(c.names, id)
	}
	for _, f := range m.Call.Functions {
		c.begin()
		c.names[f.ID] = f.Name
		if c.cut != c.reply {
			c.Report(inference.RealtimeEvent{Kind: inference.RealtimeTool, Item: c.reply,
				ToolCall: &inference.ToolCall{ID: f.ID, Name: f.Name, Arguments: string(arguments(string(f.Args)))}})
		}
	}
	if len(m.Call.Functions) > 0 { // it waits for the results
		c.end(inference.FinishTools)
	}
	if m.Usage != nil {
		c.Report(inference.RealtimeEvent{Kind: inference.RealtimeUsed, Item: c.name(), Usage: m.Usage.tokens()})
	}
	if r := m.Resumes; r != nil {
		if c.handle = r.Handle; !r.Can {
			c.handle = ""
		}
	}
	if m.GoAway != nil {
		c.expire()
	}
	return nil
}

// content takes what is said.
func (c *liveConversation) content(m *liveMessage) error {
	s := m.Content
	if s.In.Text != "" || s.In.Finished {
		c.heard(s.In.Text, s.In.Finished)
	}
	for _, p := range s.Model.Parts {
		if p.Data.Data == "" {
			continue
		}
		pcm, err := base64.StdEncoding.DecodeString(p.Data.Data)
		if err != nil {
			return c.client.Fault(inference.ErrFailed, errors.New("audio that is not base64"))
		}
		c.made(inference.RealtimeEvent{Kind: inference.RealtimeAudio, Chunk: inference.Chunk{Rate: rateOf(p.Data.Type), Samples: media.AppendSamples(nil, pcm)}})
	}
	if s.Out.Text != "" {
		c.made(inference.RealtimeEvent{Kind: inference.RealtimeText, Text: s.Out.Text})
	}
	if s.Generated || s.Interrupted || s.Complete {
		finish := inference.FinishStop
		if s.Reason != "" && s.Reason != "TURN_COMPLETE_REASON_UNSPECIFIED" {
			finish = inference.FinishFiltered
		}
		c.end(finish)
	}
	return nil
}

// heard takes words of the caller's.
func (c *liveConversation) heard(text string, all bool) {
	waits := c.Words(c.caller.turn, text)
	if !waits && c.caller.turn != "" {
		c.caller.turn, c.caller.words = "", ""
	}
	c.caller.words, c.caller.more = c.caller.words+text, moreWords
	if all {
		c.caller.more = 0
	}
	switch {
	case waits && all:
		c.Known(c.caller.turn, c.caller.words)
	case !waits:
		c.speaks()
	}
}

// speaks says that the caller does.
func (c *liveConversation) speaks() {
	if !c.caller.speaking {
		c.caller.speaking = true
		c.Report(inference.RealtimeEvent{Kind: inference.RealtimeSpeechStart})
	}
}

// made takes a piece of a reply.
func (c *liveConversation) made(e inference.RealtimeEvent) {
	c.begin()
	if c.cut != c.reply {
		e.Item = c.reply
		c.Report(e)
	}
}

// name is the latest reply's.
func (c *liveConversation) name() string { return fmt.Sprintf("reply_%d", c.count) }

// begin begins a reply, unless it is in progress.
func (c *liveConversation) begin() {
	if c.reply != "" {
		return
	}
	if c.asked.IsZero() {
		c.over()
	}
	c.count++
	c.reply, c.asked = c.name(), time.Time{}
	c.handle = "" // who went on by it would not know of the reply
	c.Report(inference.RealtimeEvent{Kind: inference.RealtimeReply, Item: c.reply})
}

// over ends the caller's turn.
func (c *liveConversation) over() {
	c.speaks()
	c.caller.speaking = false
	c.Report(inference.RealtimeEvent{Kind: inference.RealtimeSpeechEnd})
	if c.caller.turn != "" || c.caller.words == "" { // they have not come
		c.caller.words, c.caller.more = "", firstWords
	}
	c.caller.turn = fmt.Sprintf("turn_%d", c.count)
	c.Turn(c.caller.turn, c.caller.more)
	c.Words(c.caller.turn, c.caller.words)
}

// end ends the reply in progress, and asks for the next.
func (c *liveConversation) end(finish inference.Finish) {
	if c.reply == "" {
		return
	}
	c.Report(inference.RealtimeEvent{Kind: inference.RealtimeDone, Item: c.reply, Finish: finish})
	c.reply = ""
	c.next()
}

// liveUsage is what a reply has consumed.
type liveUsage struct {
	In        int            `json:"promptTokenCount"`
	Out       int            `json:"responseTokenCount"`
	InDetail  []liveModality `json:"promptTokensDetails"`
	OutDetail []liveModality `json:"responseTokensDetails"`
}

type liveModality struct {
	Modality string `json:"modality"`
	Tokens   int    `json:"tokenCount"`
}

// tokens is the usage as we count it: audio is not text.
func (u *liveUsage) tokens() *inference.Usage {
	audio := func(list []liveModality) (n int) {
		for _, m := range list {
			if m.Modality == "AUDIO" {
				n += max(0, m.Tokens)
			}
		}
		return n
	}
	in, out := audio(u.InDetail), audio(u.OutDetail)
	return &inference.Usage{In: max(0, u.In-in), Out: max(0, u.Out-out), AudioIn: in, AudioOut: out, Source: inference.UsageProvider}
}

var liveRate = regexp.MustCompile(`rate=(\d{4,5})`)

// rateOf is the rate of audio of a type.
func rateOf(mime string) media.Rate {
	if m := liveRate.FindStringSubmatch(mime); m != nil {
		if n, _ := strconv.Atoi(m[1]); media.Rate(n).Valid() {
			return media.Rate(n)
		}
	}
	return media.Rate24k
}
