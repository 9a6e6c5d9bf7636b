package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/api/wire"
)

// dialCommand holds the flags of the dial command.
type dialCommand struct {
	remote
	call   wire.NewCall
	limits callLimits
	vars   []string // name=value
	follow bool
	json   bool
}

// callLimits are flags of calls that the API takes in other forms.
type callLimits struct {
	consent       bool
	ring, longest int // seconds; 0: the server's own
}

func (l *callLimits) add(cmd *cobra.Command, consent, ring, longest string) {
	fl := cmd.Flags()
	fl.BoolVar(&l.consent, "consent", false, consent)
	fl.IntVar(&l.ring, "ring", 0, ring)
	fl.IntVar(&l.longest, "max-duration", 0, longest)
}

// sent are the flags as the API takes them.
func (l *callLimits) sent() (consent json.RawMessage, ring, longest *int) {
	if l.ring != 0 {
		ring = &l.ring
	}
	if l.longest != 0 {
		longest = &l.longest
	}
	return strconv.AppendBool(nil, l.consent), ring, longest
}

func newDialCommand() *cobra.Command {
	var d dialCommand
	cmd := &cobra.Command{Use: "dial", Short: "Have an agent call somebody",
		Long: "Calls a number and lets an agent speak with the person who answers. --consent confirms that the callee has agreed to be called; it is\n" +
			"recorded with the call, and without it the call is refused. A call that nobody answers costs nothing. With --follow the\n" +
			"command shows what happens until the call has ended; Ctrl-C leaves the call alone.",
		Example: "  parley dial --from +34911234567 --to +34612345678 --agent ag_… --consent --follow\n" +
			"  parley dial --from +34911234567 --to +34612345678 --agent ag_… --consent --var name=Ana --var day=Friday",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd) }}
	d.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&d.call.From, "from", "", "number of the account that calls")
	fl.StringVar(&d.call.To, "to", "", "number to call, in international format")
	fl.StringVar(&d.call.AgentID, "agent", "", "agent that speaks")
	d.limits.add(cmd, "the callee has agreed to be called", "seconds it may ring, 5 to 120 (default 60)",
		"seconds the call may last, 10 to 7200; the agent's own limit counts too")
	fl.StringVar(&d.call.Machine, "on-machine", "", "what a machine that answers gets: continue, hangup or message; without it, as the agent says")
	fl.StringVar(&d.call.Message, "message", "", "what to say after the tone, with --on-machine message")
	fl.StringArrayVar(&d.vars, "var", nil, "a variable of the agent, as name=value; may be repeated")
	fl.BoolVar(&d.follow, "follow", false, "show what happens until the end")
	fl.BoolVar(&d.json, "json", false, "print one JSON object; with --follow one for each event")
	for _, name := range []string{"from", "to", "agent"} {
		_ = cmd.MarkFlagRequired(name) // it exists
	}
	_ = cmd.RegisterFlagCompletionFunc("agent", d.agents) // it exists
	return cmd
}

func (d *dialCommand) run(cmd *cobra.Command) error {
	for _, given := range d.vars {
		name, value, ok := strings.Cut(given, "=")
		if !ok || name == "" {
			return usageError("--var: as name=value")
		}
		if d.call.Vars == nil {
			d.call.Vars = map[string]string{}
		}
		d.call.Vars[name] = value
	}
	c, err := d.client()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	d.call.Consent, d.call.Ring, d.call.Longest = d.limits.sent()
	call, err := c.Dial(ctx, d.call)
	if err != nil {
		return err
	}
	if d.json {
		err = result(cmd, true, call)
	} else {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), call.CallID)
	}
	if err != nil || !d.follow {
		return err
	}
	return c.Follow(ctx, call.CallID, shown(cmd, d.json))
}

func newTailCommand() *cobra.Command {
	return ask(&cobra.Command{Use: "tail CALL_ID", Short: "Follow a call while it lasts",
		Long: "Shows how far a call is and what is said in it, as it happens, until the call has ended: one of any\n" +
			"direction. Of a call that has ended already all that happened is shown.",
		Example: "  parley tail ses_…\n  parley tail ses_… --json | jq -r 'select(.type == \"transcript\").text'", Args: cobra.ExactArgs(1)}, "print one JSON object for each event", func(q *request, args []string) error {
		return q.Follow(q.ctx, args[0], shown(q.Command, q.json))
	})
}

// shown prints the events of a call for people, or each as JSON.
func shown(cmd *cobra.Command, asJSON bool) func(client.CallEvent) error {
	w, said := cmd.OutOrStdout(), 0
	return func(e client.CallEvent) error {
		if asJSON {
			return result(cmd, true, e)
		}
		switch e.Type {
		case "status":
			if e.AnsweredBy != "" {
				fmt.Fprintf(w, "        answered by: %s\n", e.AnsweredBy)
				break
			}
			fmt.Fprintf(w, "        %s\n", e.Status)
		case "transcript":
			said++
			line(w, wire.CallLine{Role: e.Role, Text: e.Text, At: e.At})
		case "transcript_sync":
			fmt.Fprintln(w, "        corrected:")
			said = all(w, e.Transcript)
		case "snapshot":
			fmt.Fprintf(w, "        %s\n", e.Status)
			said = all(w, e.Transcript)
		case "ended":
			all(w, e.Transcript[min(said, len(e.Transcript)):]) // what came with the end
			fmt.Fprintf(w, "        ended after %s: %s\n", time.Duration(e.Duration)*time.Second, strings.TrimSpace(e.EndReason+" "+e.EndDetail))
		}
		return nil
	}
}

func all(w io.Writer, lines []wire.CallLine) int {
	for _, l := range lines {
		line(w, l)
	}
	return len(lines)
}

func line(w io.Writer, l wire.CallLine) { fmt.Fprintf(w, "%6.1fs %-5s %s\n", l.At, l.Role, l.Text) }
