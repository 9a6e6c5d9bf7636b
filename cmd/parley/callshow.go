package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parley/api/client"
)

func newCallsShow() *cobra.Command {
	var r remote
	var asJSON bool
	cmd := &cobra.Command{Use: "show CALL_ID", Short: "Show a call: what was said, what it came to",
		Long: "Shows a call: how it went, which engines served it, what was said, and the analysis that its agent wanted. That is made soon\n" +
			"after the call's end; until then its state is waiting.",
		Example: "  parley calls show ses_…\n  parley calls show ses_… --json | jq .analysis.data", Args: cobra.ExactArgs(1)}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := r.client()
		if err != nil {
			return err
		}
		ctx, stop := interruptible(cmd)
		defer stop()
		text, err := c.CallText(ctx, args[0])
		if err != nil {
			return err
		}
		if asJSON {
			return result(cmd, true, text) // as the server says it
		}
		var d client.CallDetail
		if err := json.Unmarshal(text, &d); err != nil {
			return err
		}
		return lines(cmd, func(w io.Writer) { showCall(w, &d) })
	}
	r.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func showCall(w io.Writer, d *client.CallDetail) {
	fmt.Fprintf(w, "call\t%s\nbegan\t%s\n", d.ID, stamp(&d.CreatedAt))
	fmt.Fprintf(w, "from\t%s\nto\t%s\nstatus\t%s\n", d.From, d.To, d.Status)
	if d.EndReason != nil {
		fmt.Fprintf(w, "ended\t%s after %s\n", *d.EndReason, time.Duration(d.Duration)*time.Second)
	}
	fmt.Fprintf(w, "USD\t%s\n", d.Cost)
	if e := d.Engines; e != nil {
		fmt.Fprintf(w, "engines\tasr: %s; llm: %s; tts: %s\n", strings.Join(e.ASR, ", "), strings.Join(e.LLM, ", "), strings.Join(e.TTS, ", "))
	}
	if a := d.Analysis; a != nil {
		showAnalysis(w, a)
	}
	for _, l := range d.Transcript {
		fmt.Fprintf(w, "%.1fs %s\t%s\n", l.At, l.Role, l.Text)
	}
}

func showAnalysis(w io.Writer, a *client.CallAnalysis) {
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
	if len(a.Data) > 0 && string(a.Data) != "null" {
		fmt.Fprintf(w, "data\t%s\n", a.Data)
	}
}
