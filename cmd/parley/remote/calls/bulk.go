package calls

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parley/api/export"
	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

// batchPoll is how often a batch that is followed is looked at.
const batchPoll = time.Second

func newBulkCommand() *cobra.Command {
	return command.Group("bulk", "Have an agent call many people",
		"Queues calls from a CSV file, shows their progress and prints the results. The server goes on by itself; each\n"+
			"line of the file is dialled once at most.",
		"  parley bulk run people.csv --from +34911234567 --agent ag_… --consent --follow\n  parley bulk show bulk_… --csv > results.csv",
		newBulkRun(), newBulkList(), newBulkShow(), newBulkFollow(), newBulkHours(),
		newBulkTurn("pause", "Begin no further call of a batch", "Those in progress go on."),
		newBulkTurn("resume", "Go on with a paused batch", "Calls whose time has come begin at once, as lines are free."),
		newBulkTurn("cancel", "End a batch for good", "Calls that have not begun fail; those in progress go on."))
}

func newBulkRun() *cobra.Command {
	var batch wire.NewBatch
	var limits callLimits
	cmd := &cobra.Command{Use: "run FILE.csv", Short: "Queue the calls of a CSV file",
		Long: "Queues a call for each line of a CSV file, up to 500. The first line names the columns: to, and where they are wanted\n" +
			"scheduled_at (RFC 3339), from and agent_id; one that is called like a variable of the agent has its values, and one that is\n" +
			"called like a header, X-Customer-Id or User-to-User, what the calls carry. Others are ignored, which is said. Commas, semicolons or tabs stand between the columns. A file\n" +
			"without such a line has the number in its first column. Each line is a call; numbers that are there twice are listed. Those\n" +
			"without their plus sign, as spreadsheets leave them, are understood. A wrong line refuses the whole file. --consent confirms\n" +
			"that all callees have agreed to be called. Prints the batch's identifier; with --follow, how it goes until its end.",
		Example: "  parley bulk run people.csv --from +34911234567 --agent ag_… --consent --hours 09:00-20:00 --follow",
		Args:    cobra.ExactArgs(1)}
	fl := cmd.Flags()
	fl.StringVar(&batch.From, "from", "", "number of the account that calls, or local: the one nearest to each callee's; unless the file says")
	fl.StringVar(&batch.AgentID, "agent", "", "agent that speaks, unless the file says")
	limits.add(cmd, "all callees have agreed to be called", "seconds each may ring, 5 to 120 (default 60)",
		"seconds each call may last, 10 to 7200; the agent's own limit counts too")
	fl.StringVar(&batch.Name, "name", "", "name of the batch, for people")
	hours := fl.String("hours", "", "time of day in which people are called, as 09:00-20:00 (default the account's, or any)")
	zone := fl.String("timezone", "destination", "by whose clocks: destination, or a time zone as Europe/Madrid")
	fl.StringVar(&batch.Machine, "on-machine", "", "what a machine that answers gets: continue (default), hangup or message")
	fl.StringVar(&batch.Message, "message", "", "what to say after the tone, with --on-machine message")
	metadata := fl.StringArray("metadata", nil, "what to keep with the batch and each of its calls, as season=spring; may be repeated")
	retries := fl.StringArray("retry", nil, "call again after an outcome: OUTCOME:CALLS:WAIT, as busy:3:10m for three calls in all, ten minutes apart;\nno_answer, busy, rejected, voicemail or failed; may be repeated")
	follow := fl.Bool("follow", false, "show how it goes until the end")
	server.CompleteAgents(cmd)
	return server.Ask(cmd, "print the batch as one JSON object; with --follow at its end", func(q *server.Request, args []string) error {
		if *hours != "" {
			window, err := readHours("--hours", *hours, *zone)
			if err != nil {
				return err
			}
			batch.Window = &window
		}
		people, err := readPeople(q.Command, args[0])
		if err != nil {
			return err
		}
		people.repeated(q.ErrOrStderr())
		if batch.Retries, err = readRetries(*retries); err != nil {
			return err
		}
		if batch.Metadata, err = command.Pairs("metadata", *metadata); err != nil {
			return err
		}
		if err := people.personal(q, batch.AgentID); err != nil {
			return err
		}
		batch.Rows = people.rows
		batch.Consent, batch.Ring, batch.Longest = limits.sent()
		queued, err := q.BulkDial(q.Ctx, batch)
		switch {
		case err != nil:
			return people.explain(err)
		case *follow:
			return followBatch(q, queued.ID)
		}
		return q.AnswerText(queued, queued.ID+"\n")
	})
}

// readRetries parses retry rules such as busy:3:10m.
func readRetries(texts []string) (rules []wire.Retry, err error) {
	for _, text := range texts {
		parts := strings.Split(text, ":")
		if len(parts) != 3 {
			return nil, command.UsageError("--retry: as busy:3:10m")
		}
		calls, err := strconv.Atoi(parts[1])
		wait, wrong := time.ParseDuration(parts[2])
		if err != nil || wrong != nil {
			return nil, command.UsageError("--retry: as busy:3:10m")
		}
		rules = append(rules, wire.Retry{On: parts[0], Attempts: calls, After: int(wait / time.Second)})
	}
	return rules, nil
}

// followBatch shows how a batch goes, until no call of it is left. Ctrl-C leaves it alone.
func followBatch(q *server.Request, id string) error {
	last := ""
	for {
		b, err := q.Batch(q.Ctx, id)
		if err != nil {
			return err
		}
		over := b.State == "done" || b.State == "cancelled" && b.Counts.Dialing == 0
		if now := progressOf(b); now != last && !q.JSON {
			last = now
			fmt.Fprint(q.OutOrStdout(), now)
		}
		if over {
			return q.AnswerText(b, "")
		}
		select {
		case <-time.After(batchPoll):
		case <-q.Ctx.Done():
			return q.Ctx.Err()
		}
	}
}

func progressOf(b *wire.BatchDetail) string {
	n := b.Counts
	return fmt.Sprintf("%s\t%s: %d pending, %d dialing, %d sent, %d failed\n", b.ID, b.State, n.Pending, n.Dialing, n.Sent, n.Failed)
}

func newBulkFollow() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "follow BATCH_ID", Short: "Watch a batch until it finishes", Long: "Prints the number of calls by status whenever it changes, until all are done. Ctrl-C does not stop the batch.",
		Example: "  parley bulk follow bulk_…", Args: cobra.ExactArgs(1)}, "print the batch as one JSON object at its end", func(q *server.Request, args []string) error {
		return followBatch(q, args[0])
	})
}

func newBulkList() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "list", Short: "List the batches", Long: "Lists every batch of the account, the newest first, with its number of calls by status.",
		Example: "  parley bulk list\n  parley bulk list --json | jq -r '.batches[0].id'", Args: cobra.NoArgs}, command.OneObject, func(q *server.Request, _ []string) error {
		list, err := q.Batches(q.Ctx)
		if err != nil {
			return err
		}
		return q.Answer(map[string]any{"batches": list}, func(w io.Writer) {
			var sum wire.Counts
			for _, b := range list {
				n := b.Counts
				sum.Pending, sum.Dialing, sum.Sent, sum.Failed = sum.Pending+n.Pending, sum.Dialing+n.Dialing, sum.Sent+n.Sent, sum.Failed+n.Failed
			}
			batches := "batches"
			if len(list) == 1 {
				batches = "batch"
			}
			fmt.Fprintf(w, "%d %s: %d pending, %d dialing, %d sent, %d failed\n", len(list), batches, sum.Pending, sum.Dialing, sum.Sent, sum.Failed)
			fmt.Fprintln(w, "queued\tbatch\tname\tstate\tpending\tdialing\tsent\tfailed")
			for _, b := range list {
				n := b.Counts
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\n", command.Stamp(&b.CreatedAt), b.ID, b.Name, b.State, n.Pending, n.Dialing, n.Sent, n.Failed)
			}
		})
	})
}

func newBulkShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show BATCH_ID", Short: "Show the calls of a batch", Long: "Shows the totals of a batch, and each of its calls: status, why it ended, who answered, cost and summary.",
		Example: "  parley bulk show bulk_…\n  parley bulk show bulk_… --csv > results.csv", Args: cobra.ExactArgs(1)}
	asCSV := cmd.Flags().Bool("csv", false, "print a CSV file")
	server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		b, err := q.Batch(q.Ctx, args[0])
		switch {
		case err != nil:
			return err
		case *asCSV:
			return writeRows(cmd.OutOrStdout(), b)
		case !q.JSON:
			fmt.Fprint(cmd.OutOrStdout(), progressOf(b))
		}
		return q.Answer(b, func(w io.Writer) { showRows(w, b.Rows) })
	})
	cmd.MarkFlagsMutuallyExclusive("json", "csv")
	return cmd
}

func showRows(w io.Writer, rows []wire.BatchRow) {
	summed(w, rows, false, func(r *wire.BatchRow) (int64, wire.USD) { return r.Duration, r.Cost })
	fmt.Fprintln(w, "to\tstatus\tcall\tseconds\tend\tanswered by\tUSD\tsummary")
	for _, r := range rows {
		end := export.Optional(r.EndReason)
		if r.Error != nil {
			end = r.Error.Code
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", r.To, r.Status, export.Optional(r.CallID), r.Duration, end, export.Optional(r.AnsweredBy), r.Cost,
			strings.Join(strings.Fields(export.Optional(r.Summary)), " "))
	}
}

// writeRows writes a batch as RFC 4180 has it. A text that a spreadsheet would take for
// a formula begins with an apostrophe.
func writeRows(out io.Writer, b *wire.BatchDetail) error {
	w := csv.NewWriter(out)
	w.UseCRLF = true
	_ = w.Write([]string{"to", "from", "agent_id", "scheduled_at", "status", "call_id", "started_at", "answered_at", "ended_at", "duration", "end_reason", "end_detail",
		"answered_by", "cost", "summary", "error", "attempt"}) // Error tells
	for _, r := range b.Rows {
		fault := ""
		if r.Error != nil {
			fault = r.Error.Code + ": " + r.Error.Message
		}
		summary := export.Words(export.Optional(r.Summary))
		_ = w.Write([]string{r.To, r.From, r.AgentID, instant(r.ScheduledAt), r.Status, export.Optional(r.CallID), instant(r.StartedAt), instant(r.AnsweredAt), instant(r.EndedAt),
			strconv.FormatInt(r.Duration, 10), export.Optional(r.EndReason), export.Optional(r.EndDetail), export.Optional(r.AnsweredBy), r.Cost.String(), summary, fault, strconv.Itoa(r.Attempt)})
	}
	w.Flush()
	return w.Error()
}

func instant(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func newBulkTurn(verb, short, long string) *cobra.Command {
	return server.Ask(&cobra.Command{Use: verb + " BATCH_ID", Short: short, Long: short + ". " + long + " Prints the state of the batch.", Example: "  parley bulk " + verb + " bulk_…", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		b, err := q.TurnBatch(q.Ctx, args[0], verb)
		if err != nil {
			return err
		}
		return q.AnswerText(b, progressOf(b))
	})
}
