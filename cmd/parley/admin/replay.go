package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/cmd/parley/local"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/journal"
	"parley/pipeline/replay"
	"parley/store"
	"parley/store/history"
)

// errDiffers is a replay that is not the call as it was.
var errDiffers = errors.New("the replay differs from the call")

// replayed is the answer of the replay command.
type replayed struct {
	Call        string           `json:"call"`
	Same        bool             `json:"same"`
	Cut         bool             `json:"cut"`
	PartedMS    *int64           `json:"parted_at_ms"` // null: it never does
	Unheard     int              `json:"unheard"`
	Events      []journal.Event  `json:"events"`
	Differences []eventInTwoLogs `json:"differences"`
}

type eventInTwoLogs struct {
	Then *journal.Event `json:"then"`
	Now  *journal.Event `json:"now"`
}

func newReplayCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "replay FILE|CALL_ID", Short: "Conduct a recorded call again and compare",
		Long: "Feeds the server's conductor all that reached it in a call: what the caller's voice did, what was recognised, what the model, the\n" +
			"voice and functions gave, and when. It decides again, in no time and without any engine, and its log is compared with that of\n" +
			"the call, byte for byte. - is a difference that was, + one that is, ~ what is at another time. With other settings it shows where\n" +
			"the call would have gone another way; a reply then is the recorded one to the same words, else the next one. Settings to change: \n" +
			strings.Join(replay.Settable(), ", ") + ".\n" +
			"Calls whose agent's settings say record: true are kept, as long as their recordings; those that come with the demonstration\n" +
			"took place elsewhere and are not. Needs no running server; FILE is what\n" +
			"-o has written. Exit status 1 when anything differs.",
		Example: "  parley replay ses_…\n  parley replay ses_… --diff --set min_endpoint_ms=500 --set interruptible=never\n  parley replay ses_… -o call.jsonl.gz", Args: cobra.ExactArgs(1)}
	local.ConfigFlag(cmd)
	set := cmd.Flags().StringArray("set", nil, "another setting of the agent, as `setting=value`; repeated")
	today := cmd.Flags().Bool("today", false, "with the settings that the agent has today")
	diff := cmd.Flags().Bool("diff", false, "print only what differs")
	out := cmd.Flags().StringP("out", "o", "", "write what was kept of the call to this file instead, - for standard output")
	return command.Runs(cmd, command.OneObject, func(j *command.Job, args []string) error {
		settings, err := replay.ParseSettings(*set)
		if err != nil {
			return command.UsageError("--set: " + err.Error())
		}
		record, agent, err := findRecord(j, args[0])
		if err != nil {
			return err
		}
		if *out != "" {
			return writeRecord(cmd.OutOrStdout(), *out, record)
		}
		if *today && agent == nil {
			return command.UsageError("--today: needs a call whose agent is still there")
		}
		f, err := journal.Read(bytes.NewReader(record))
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		r, err := replay.Replay(f, func(c *pipeline.Config) {
			if *today {
				replay.Today(*agent)(c)
			}
			replay.With(settings)(c)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		err = j.AnswerText(answerOf(args[0], f, &r), replayText(f, &r, *diff))
		if err == nil && !r.Same {
			err = errDiffers
		}
		return err
	})
}

// findRecord reads the file of that name, or finds what the database has of the call,
// with the settings that its agent has today.
func findRecord(j *command.Job, name string) (record []byte, today *agent.Settings, err error) {
	if !strings.HasPrefix(name, "ses_") || strings.ContainsAny(name, "./") {
		b, err := os.ReadFile(name)
		return b, nil, err
	}
	err = withStore(j, func(db *store.DB) error {
		ctx, cancel := context.WithTimeout(j.Ctx, timeout)
		defer cancel()
		kept, err := history.New(db).CallReplay(ctx, name)
		if errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("%s: nothing is kept to replay: the call was not recorded, has not ended, its recording was deleted, or it came with the demonstration: %w", name, err)
		}
		if err != nil {
			return err
		}
		record = kept.Record
		if kept.Settings == nil {
			return nil
		}
		settings, err := agent.ParseSettings(kept.Settings)
		today = &settings
		return err
	})
	return record, today, err
}

func writeRecord(stdout io.Writer, to string, record []byte) error {
	if to == "-" {
		_, err := stdout.Write(record)
		return err
	}
	return os.WriteFile(to, record, 0o600)
}

func answerOf(name string, f *journal.File, r *replay.Result) replayed {
	answer := replayed{Call: name, Same: r.Same, Cut: f.Cut, Unheard: r.Unheard, Events: r.Events, Differences: []eventInTwoLogs{}}
	if at, ok := partedAt(f, r); ok {
		ms := at.At().Milliseconds()
		answer.PartedMS = &ms
	}
	for _, d := range replay.Compare(f.Events, r.Events) {
		if !d.Same() {
			answer.Differences = append(answer.Differences, eventInTwoLogs{d.Then, d.Now})
		}
	}
	return answer
}

// partedAt is the first event that is another one.
func partedAt(f *journal.File, r *replay.Result) (*journal.Event, bool) {
	switch n := r.Parted; {
	case n < 0:
		return nil, false
	case n < len(r.Events):
		return &r.Events[n], true
	case n < len(f.Events):
		return &f.Events[n], true
	}
	return nil, false
}

func replayText(f *journal.File, r *replay.Result, onlyDiff bool) string {
	var b strings.Builder
	n := 0
	for _, d := range replay.Compare(f.Events, r.Events) {
		if !d.Same() {
			n++
		}
		if !onlyDiff || !d.Same() {
			b.WriteString(d.String() + "\n")
		}
	}
	switch at, ok := partedAt(f, r); {
	case r.Same && f.Cut:
		fmt.Fprintf(&b, "%d events, as in the call; the rest of it was not kept\n", len(r.Events))
	case r.Same:
		fmt.Fprintf(&b, "%d events, as in the call\n", len(r.Events))
	case ok:
		fmt.Fprintf(&b, "%d differences, from %.3f s on\n", n, at.At().Seconds())
	default:
		fmt.Fprintf(&b, "%d differences\n", n)
	}
	if r.Unheard > 0 {
		fmt.Fprintf(&b, "%d replies were not in the call: silence stands in for their voice\n", r.Unheard)
	}
	return b.String()
}
