package calls

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
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

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
	var call wire.NewCall
	var limits callLimits
	cmd := &cobra.Command{Use: "dial", Short: "Have an agent call somebody",
		Long: "Calls a number and lets an agent speak with the person who answers. --consent confirms that the callee has agreed to be called; it is\n" +
			"recorded with the call, and without it the call is refused. A call that nobody answers costs nothing. With --follow the\n" +
			"command shows what happens until the call has ended; Ctrl-C leaves the call alone.",
		Example: "  parley dial --from +34911234567 --to +34612345678 --agent ag_… --consent --follow\n" +
			"  parley dial --from +34911234567 --to +34612345678 --agent ag_… --consent --var name=Ana --var day=Friday",
		Args: cobra.NoArgs}
	fl := cmd.Flags()
	fl.StringVar(&call.From, "from", "", "number of the account that calls, or local: the one nearest to the callee's")
	fl.StringVar(&call.To, "to", "", "number to call, in international format")
	fl.StringVar(&call.AgentID, "agent", "", "agent that speaks")
	limits.add(cmd, "the callee has agreed to be called", "seconds it may ring, 5 to 120 (default 60)",
		"seconds the call may last, 10 to 7200; the agent's own limit counts too")
	fl.StringVar(&call.Machine, "on-machine", "", "what a machine that answers gets: continue, hangup or message; without it, as the agent says")
	fl.StringVar(&call.Message, "message", "", "what to say after the tone, with --on-machine message")
	vars := fl.StringArray("var", nil, "a variable of the agent, as name=value; may be repeated")
	headers := fl.StringArray("header", nil, "a header of its INVITE, X- or User-to-User, as X-Customer-Id=42; may be repeated")
	metadata := fl.StringArray("metadata", nil, "what to keep with the call, as order=42; may be repeated")
	follow := fl.Bool("follow", false, "show what happens until the end")
	for _, name := range []string{"from", "to", "agent"} {
		_ = cmd.MarkFlagRequired(name) // it exists
	}
	server.CompleteAgents(cmd)
	return server.Ask(cmd, "print one JSON object; with --follow one for each event", func(q *server.Request, _ []string) (err error) {
		if call.Vars, err = command.Pairs("var", *vars); err != nil {
			return err
		}
		if call.Headers, err = command.Pairs("header", *headers); err != nil {
			return err
		}
		if call.Metadata, err = command.Pairs("metadata", *metadata); err != nil {
			return err
		}
		call.Consent, call.Ring, call.Longest = limits.sent()
		placed, err := q.Dial(q.Ctx, call)
		if err == nil {
			err = q.AnswerText(placed, placed.CallID+"\n")
		}
		if err != nil || !*follow {
			return err
		}
		return q.Follow(q.Ctx, placed.CallID, shown(q))
	})
}

func newTailCommand() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "tail CALL_ID", Short: "Follow a call while it lasts",
		Long: "Shows how far a call is and what is said in it, as it happens, until the call has ended: one of any\n" +
			"direction. Of a call that has ended already all that happened is shown.",
		Example: "  parley tail ses_…\n  parley tail ses_… --json | jq -r 'select(.type == \"transcript\").text'", Args: cobra.ExactArgs(1)}, "print one JSON object for each event", func(q *server.Request, args []string) error {
		return q.Follow(q.Ctx, args[0], shown(q))
	})
}

// shown prints the events of a call for people, or each as JSON.
func shown(q *server.Request) func(client.CallEvent) error {
	w, said := q.OutOrStdout(), 0
	return func(e client.CallEvent) error {
		if q.JSON {
			return command.Encode(w, e)
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
