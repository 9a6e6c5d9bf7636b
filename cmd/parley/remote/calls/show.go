package calls

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parley/api/export"
	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

func newCallsShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show CALL_ID", Short: "Show a call: transcript, latency, cost",
		Long: "Shows a call: how it went, which engines served it, its transcript, its functions, the response latency of each turn, and the analysis that its agent\n" +
			"wanted. That is made soon after the call's end; until then its state is waiting. Of a line that the caller cut off the rest is\n" +
			"shown that nobody heard. Answers have the end of the caller's speech, in seconds since the call was answered, and how many\n" +
			"milliseconds after it came the last final text, the model's first words, its first sentence, the voice's first audio and its\n" +
			"first packet; - is what was not. --words shows when each word was said; ~ marks a line whose times are partly an estimate.",
		Example: "  parley calls show ses_…\n  parley calls show ses_… --words\n  parley calls show ses_… --json | jq .analysis.data", Args: cobra.ExactArgs(1)}
	words := cmd.Flags().Bool("words", false, "show when each word was said")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		text, err := q.CallText(q.Ctx, args[0])
		if err != nil {
			return err
		}
		if q.JSON {
			return command.Encode(q.OutOrStdout(), text) // as the server says it
		}
		var d wire.CallDetail
		read := json.NewDecoder(bytes.NewReader(text))
		read.UseNumber() // a float would lose digits
		if err := read.Decode(&d); err != nil {
			return err
		}
		return q.Answer(nil, func(w io.Writer) { showCall(w, &d, *words) })
	})
}

func showCall(w io.Writer, d *wire.CallDetail, words bool) {
	fmt.Fprintf(w, "call\t%s\nbegan\t%s\n", d.ID, command.Stamp(&d.CreatedAt))
	from := d.From
	if d.Verstat != nil {
		from += " (" + *d.Verstat + ")"
	}
	if d.Attested != nil {
		from += " attested " + *d.Attested
	}
	fmt.Fprintf(w, "from\t%s\nto\t%s\nstatus\t%s\n", from, d.To, d.Status)
	if o := d.Origin; o != nil && o.DivertedBy != "" {
		fmt.Fprintf(w, "diverted by\t%s\n", o.DivertedBy)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Headers)) {
		fmt.Fprintf(w, "%s\t%s\n", name, d.Headers[name])
	}
	if d.EndReason != nil {
		fmt.Fprintf(w, "ended\t%s after %s\n", *d.EndReason, time.Duration(d.Duration)*time.Second)
	}
	if a := d.Asked; a != nil {
		fmt.Fprintf(w, "webhook\t%s %s after %d ms %s\n", a.WebhookID, a.Outcome, a.LatencyMS, export.Optional(a.Error))
	}
	fmt.Fprintf(w, "USD\t%s\n", d.Cost)
	showKept(w, &d.CallSummary)
	if e := d.Engines; e != nil {
		fmt.Fprintf(w, "engines\tasr: %s; llm: %s; tts: %s\n", strings.Join(e.ASR, ", "), strings.Join(e.LLM, ", "), strings.Join(e.TTS, ", "))
	}
	if a := d.Analysis; a != nil {
		showAnalysis(w, a)
	}
	showTalk(w, d, words)
	showTurns(w, d.Turns)
}

// showTalk shows what was said, with the functions where they were called.
func showTalk(w io.Writer, d *wire.CallDetail, words bool) {
	functions := d.Functions
	until := func(at float64) {
		for len(functions) > 0 && float64(functions[0].StartMS)/1000 < at {
			showFunction(w, &functions[0])
			functions = functions[1:]
		}
	}
	for _, l := range d.Transcript {
		until(l.Began())
		showLine(w, &l, words)
	}
	until(math.Inf(1))
}

func showFunction(w io.Writer, f *wire.CallFunction) {
	fmt.Fprintf(w, "%.1fs function\t%s %s\n", float64(f.StartMS)/1000, f.Name, f.Arguments)
	if f.Outcome == nil || f.EndMS == nil {
		fmt.Fprintln(w, "\tno result is known")
		return
	}
	fmt.Fprintf(w, "\t%s after %d ms: %s\n", *f.Outcome, *f.EndMS-f.StartMS, export.Optional(f.Result))
}

func showLine(w io.Writer, l *wire.CallLine, words bool) {
	fmt.Fprintf(w, "%.1fs %s\t%s\n", l.Began(), l.Role, l.Text)
	if cut := l.Interrupted; cut != nil {
		fmt.Fprintf(w, "\tcut off at %.2fs; not heard: %q\n", float64(cut.AtMS)/1000, cut.Unheard)
	}
	if !words || len(l.Words) == 0 {
		return
	}
	var times []string
	for _, x := range l.Words {
		times = append(times, fmt.Sprintf("%s %.2f-%.2f", x.Text, float64(x.StartMS)/1000, float64(x.EndMS)/1000))
	}
	mark := ""
	if l.Estimated {
		mark = "~ "
	}
	fmt.Fprintf(w, "\t%s%s\n", mark, strings.Join(times, ", "))
}

func showTurns(w io.Writer, turns []wire.CallTurn) {
	point := func(ms *int64) string {
		if ms == nil {
			return "-"
		}
		return fmt.Sprint(*ms)
	}
	for _, t := range turns {
		if p := t.Points; p != nil {
			fmt.Fprintf(w, "answer %d\tspeech ended %.2fs; after ms: text %s, token %s, sentence %s, audio %s, packet %s\n", t.Turn, float64(p.SpeechEndMS)/1000,
				point(p.FinalTextMS), point(p.FirstTokenMS), point(p.FirstSentenceMS), point(p.FirstAudioMS), point(p.FirstPacketMS))
		} else {
			fmt.Fprintf(w, "answer %d\tafter %d ms\n", t.Turn, t.TotalMS)
		}
	}
}

func showAnalysis(w io.Writer, a *wire.CallAnalysis) {
	state := a.State
	for _, more := range []*string{a.Reason, a.Detail} {
		if more != nil {
			state += ": " + *more
		}
	}
	fmt.Fprintf(w, "analysis\t%s\n", state)
	if a.Summary != nil {
		fmt.Fprintf(w, "summary\t%s\n", strings.Join(strings.Fields(*a.Summary), " "))
	}
	if a.Data != nil {
		fmt.Fprint(w, "data\t")
		_ = command.Encode(w, a.Data) // what was read can be written
	}
}
