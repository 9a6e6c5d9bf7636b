package calls

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

// callWords are what the filters of the list of calls take, as the API has it.
var callWords = map[string][]string{
	"direction": {"web", "inbound", "outbound"},
	"state":     {"live", "ended"},
	"end-reason": {"completed", "user_hangup", "agent_hangup", "api_hangup", "no_answer", "busy", "rejected", "failed", "voicemail",
		"balance_exhausted", "max_duration", "unknown"},
	"sort": {"newest", "oldest", "longest", "most_expensive", "worst_sound"},
}

func newCallsCommand() *cobra.Command {
	var query client.CallQuery
	var metadata []string
	cmd := server.Ask(&cobra.Command{Use: "calls", Short: "List the latest calls",
		Long: "Lists the account's latest calls, the newest first unless --sort says otherwise: on the telephone, placed by agents, and\n" +
			"over WebSockets; before them the totals of those that are listed. parley calls stats sums up all. Filters are combined: a call is listed when all of them fit. Dates begin at midnight UTC, and --to is not included.",
		Example: "  parley calls --limit 5\n  parley calls --state live\n  parley calls --sort longest\n  parley calls --number +34612345678 --from 2026-03-01\n  parley calls --search 'refund \"last week\"'\n  parley calls --json | jq -r '.data[0].id'",
		Args:    cobra.NoArgs}, command.OneObject, func(q *server.Request, _ []string) (err error) {
		if query.Metadata, err = command.Pairs("metadata", metadata); err != nil {
			return err
		}
		return listCalls(q, query)
	})
	fl := cmd.Flags()
	fl.StringVar(&query.Direction, "direction", "", "only these: "+strings.Join(callWords["direction"], ", "))
	fl.StringVar(&query.State, "state", "", "only those in progress, live, or over, ended")
	fl.StringVar(&query.EndReason, "end-reason", "", "only those that ended so, such as no_answer")
	fl.StringVar(&query.Number, "number", "", "only those from or to this number, in international format")
	fl.StringVar(&query.Agent, "agent", "", "only those of this agent, also one that was deleted")
	fl.StringVar(&query.From, "from", "", "not begun before this date, or RFC 3339 time")
	fl.StringVar(&query.To, "to", "", "begun before this date, or RFC 3339 time")
	fl.StringVar(&query.Header, "header", "", "only those with this header, as X-Customer-Id:42")
	fl.StringVar(&query.Tag, "tag", "", "only those with this tag")
	fl.StringVar(&query.Said, "search", "", "only those in which these words were said; \"one after another\", one or the other, -not")
	fl.StringArrayVar(&metadata, "metadata", nil, "only those with this metadata, as order=42; may be repeated")
	fl.StringVar(&query.Sort, "sort", "newest", "what comes first: "+strings.Join(callWords["sort"], ", ")+"; of the last three without calls in progress")
	fl.IntVar(&query.Limit, "limit", 20, "how many at most, 1 to 100")
	command.Complete(cmd, callWords)
	server.CompleteAgents(cmd)
	cmd.AddCommand(newCallsRecording(), newCallsShow(), newCallsCompletions(), newCallsStats(), newCallsEdit(), newCallsDelete())
	return cmd
}

func listCalls(q *server.Request, query client.CallQuery) error {
	if err := server.CheckFilter(query.Limit, map[string]string{"direction": query.Direction, "state": query.State, "end-reason": query.EndReason, "sort": query.Sort}, callWords); err != nil {
		return err
	}
	list, more, err := q.Calls(q.Ctx, query)
	if err != nil {
		return err
	}
	if more {
		fmt.Fprintf(q.ErrOrStderr(), "only the first %d are shown\n", query.Limit)
	}
	return q.Answer(map[string]any{"data": list}, func(w io.Writer) { showCalls(w, list, more) })
}

// summed says what calls come to: how many there are, how long they lasted and what they cost.
func summed[T any](w io.Writer, list []T, more bool, of func(*T) (seconds int64, cost wire.USD)) {
	var seconds int64
	var cost wire.USD
	for i := range list {
		s, c := of(&list[i])
		seconds, cost = seconds+s, cost+c
	}
	first := ""
	if more {
		first = "the first "
	}
	fmt.Fprintf(w, "%s%d %s, %d %s, %s USD\n", first, len(list), server.Plural("call", int64(len(list))), seconds, server.Plural("second", seconds), cost)
}

func showCalls(w io.Writer, list []wire.CallSummary, more bool) {
	summed(w, list, more, func(c *wire.CallSummary) (int64, wire.USD) { return c.Duration, c.Cost })
	fmt.Fprintln(w, "began\tcall\tdirection\tfrom\tto\tseconds\tend\tUSD")
	for _, c := range list {
		end := c.Status
		if c.EndReason != nil {
			end = *c.EndReason
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", command.Stamp(&c.CreatedAt), c.ID, c.Direction, c.From, c.To, c.Duration, end, c.Cost)
	}
}

func newCallsEdit() *cobra.Command {
	cmd := &cobra.Command{Use: "edit CALL_ID", Short: "Keep metadata, tags and a note with a call",
		Long: "Changes what is kept with a call, and prints it. Tags take the place of those that the call has, and an empty --tags\n" +
			"takes all away, as an empty --note does with the note. --metadata name= takes a name away; other names stay.",
		Example: "  parley calls edit ses_… --tags complaint,refund --note 'Wants a call back on Monday.'\n  parley calls edit ses_… --metadata order=42", Args: cobra.ExactArgs(1)}
	fl := cmd.Flags()
	tags := fl.StringSlice("tags", nil, "what people call it, with commas between")
	note := fl.String("note", "", "what there is to say about it")
	metadata := fl.StringArray("metadata", nil, "a name and its value, as order=42; may be repeated")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		var change wire.CallChange
		given, err := command.Pairs("metadata", *metadata)
		if err != nil {
			return err
		}
		for name, value := range given {
			if change.Metadata == nil {
				change.Metadata = wire.MetadataChange{}
			}
			if change.Metadata[name] = nil; value != "" {
				change.Metadata[name] = &value
			}
		}
		if fl.Changed("tags") {
			list := append([]string{}, *tags...)
			change.Tags = &list
		}
		if fl.Changed("note") {
			change.Note = note
		}
		c, err := q.KeepWithCall(q.Ctx, args[0], change)
		if err != nil {
			return err
		}
		return q.Answer(c, func(w io.Writer) { showKept(w, c) })
	})
}

// showKept shows what is kept with a call.
func showKept(w io.Writer, c *wire.CallSummary) {
	for _, name := range slices.Sorted(maps.Keys(c.Metadata)) {
		fmt.Fprintf(w, "%s\t%s\n", name, c.Metadata[name])
	}
	if len(c.Tags) > 0 {
		fmt.Fprintf(w, "tags\t%s\n", strings.Join(c.Tags, ", "))
	}
	if c.Note != nil {
		fmt.Fprintf(w, "note\t%s\n", strings.Join(strings.Fields(*c.Note), " "))
	}
}

func newCallsDelete() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "delete CALL_ID", Short: "Delete the transcript and recording of a call",
		Long: "Deletes the contents of a call, for good: transcript, events, recording, summary, extracted data, and what it could be replayed\n" +
			"from. That there was the call stays, with its numbers, times and cost. Of a call that lasts nothing is kept when it ends.\n" +
			"Deleting it again changes nothing. The operator can have an account forget by itself: parley admin account set --conversation-days.",
		Example: "  parley calls delete ses_…", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		if err := q.ForgetCall(q.Ctx, args[0]); err != nil {
			return err
		}
		return q.AnswerText(map[string]any{"id": args[0], "deleted": true}, "deleted\t"+args[0]+"\n")
	})
}

// fetched is what the calls recording command has done.
type fetched struct {
	Call  string `json:"call_id"`
	File  string `json:"file"`
	Type  string `json:"type"`
	Bytes int64  `json:"bytes"`
}

func newCallsRecording() *cobra.Command {
	cmd := &cobra.Command{Use: "recording CALL_ID", Short: "Fetch the recording of a call",
		Long: "Writes the recording of a call that has ended, the caller on the left and what the caller heard on the right: as the server\n" +
			"keeps it, which is Opus in Ogg, or in the --format that is asked for; without -o to standard output when that is not a\n" +
			"terminal. Calls are recorded when the settings of their agent say so.",
		Example: "  parley calls recording ses_… -o call.ogg\n  parley calls recording ses_… --format wav | aplay", Args: cobra.ExactArgs(1)}
	out := cmd.Flags().StringP("out", "o", "", "file for the recording, - for standard output")
	format := cmd.Flags().String("format", "", "ogg or wav; without it as the server keeps it")
	command.Complete(cmd, map[string][]string{"format": {"ogg", "wav"}})
	return server.Ask(cmd, "print what was done as one JSON object", func(q *server.Request, args []string) error {
		if *format != "" && *format != "ogg" && *format != "wav" {
			return command.UsageError("--format: ogg or wav")
		}
		did := fetched{Call: args[0]}
		err := q.WriteOutput(*out, func(to *server.Output, show *command.Progress) error {
			did.File = to.Path
			audio, err := q.CallRecording(q.Ctx, args[0], *format)
			if err != nil {
				return err
			}
			did.Type = audio.Type
			did.Bytes, err = server.Save(show, audio, to)
			return err
		})
		if err != nil {
			return err
		}
		return q.Done(did, "%s: %d bytes, %s\n", did.File, did.Bytes, did.Type)
	})
}
