package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"parley/cmd/parley/bench"
	"parley/cmd/parley/command"
	"parley/cmd/parley/doctor"
	"parley/cmd/parley/engine"
	"parley/cmd/parley/local"
	"parley/inference"
	"parley/media"
)

// sentence is what engines hear, answer and speak when they are measured and recorded.
const sentence = "What time do you open on Monday?"

func newEngineBench() *cobra.Command {
	cmd := &cobra.Command{Use: "bench [NAME...]", Short: "Measure how soon the engines of vendors connect and answer",
		Long: "Has each engine of a vendor, or those that are named, hear, answer or speak the same sentence, one time after the other, each on a connection of\n" +
			"its own. Prints how long connecting took, and from there the first of the answer: from the end of the audio to a recogniser's last words, from a\n" +
			"request to a model's first text, from a text to a voice's first audio. Vendors charge for that. Exit status 1 when one of them failed.",
		Example: "  parley engine bench --config parley.yaml\n  parley engine bench flux sonic --times 50", Args: cobra.ArbitraryArgs}
	local.SettingFlags(cmd)
	times := cmd.Flags().Int("times", 20, "how often each engine is asked")
	return command.Interruptible(cmd, command.OneObject, func(j *command.Job, args []string) error {
		rows, err := vendorsEngines(j, args)
		if err != nil {
			return err
		}
		if *times < 1 {
			return command.UsageError("--times: at least 1")
		}
		ask, err := trialOf(j.Ctx, rows)
		if err != nil {
			return err
		}
		var all []measuredEngine
		failed := false
		progress := command.NewProgress(j.Command, j.JSON)
		for _, row := range rows {
			progress.Begin(row.Name)
			m := measureEngine(j.Ctx, row, ask, *times, func(n int) { progress.Set(float64(n), float64(*times)) })
			all, failed = append(all, m), failed || m.Failed > 0
		}
		progress.End()
		if err := j.Answer(map[string]any{"engines": all}, func(w io.Writer) { printMeasured(w, all) }); err != nil {
			return err
		}
		if failed {
			return errors.New("not every engine answered each time")
		}
		return nil
	})
}

func newEngineRecord() *cobra.Command {
	cmd := &cobra.Command{Use: "record NAME", Short: "Print what passes between one engine and its vendor, without words and keys",
		Long: "Has an engine of a vendor hear, answer or speak a sentence, and prints each message of both sides as a line of JSON. Of texts only the form is left,\n" +
			"and of audio the length; keys are not in it. Where a vendor has changed what it says, that is what we need to see. The vendor charges for it.\n" +
			"When the engine fails, the messages until then are printed all the same, and the exit status is 1.",
		Example: "  parley engine record flux --config parley.yaml >flux.jsonl", Args: cobra.ExactArgs(1)}
	local.SettingFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, stop := command.CtrlC(cmd)
		defer stop()
		rows, err := vendorsEngines(&command.Job{Command: cmd, Ctx: ctx}, args)
		if err != nil {
			return err
		}
		ask, err := trialOf(ctx, rows)
		if err != nil {
			return err
		}
		to := engine.NewRecorder(cmd.OutOrStdout(), rows[0].engine.APIKey)
		ask.Tap = to.Take
		_, err = runTrial(ctx, rows[0], ask)
		return errors.Join(err, to.Err())
	}
	return cmd
}

// vendorsEngines are the engines of those names, or all that vendors have.
func vendorsEngines(j *command.Job, names []string) (rows []engineRow, err error) {
	all, err := listEngines(j)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		row, err := named(all, name)
		if err == nil && row.engine.Local() {
			err = fmt.Errorf("%s runs on this machine; parley bench measures that", name)
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	if len(names) == 0 {
		rows = slices.DeleteFunc(all, func(e engineRow) bool { return e.engine.Local() || e.engine.AccountKeys })
	}
	if len(rows) == 0 {
		return nil, errors.New("there is no engine of a vendor; parley engine list says which there are")
	}
	return rows, nil
}

// trialOf is what the engines are asked. Those that hear hear the sentence from the embedded voice.
func trialOf(ctx context.Context, rows []engineRow) (t engine.Trial, err error) {
	t.Text = sentence
	if slices.ContainsFunc(rows, func(e engineRow) bool { return e.Stage == "asr" || e.Stage == "realtime" }) {
		if t.Said, err = doctor.Say(ctx, sentence, media.Rate16k); err != nil {
			return t, fmt.Errorf("the embedded voice, which engines are to hear: %w", err)
		}
	}
	return t, nil
}

// runTrial asks an engine.
func runTrial(ctx context.Context, row engineRow, ask engine.Trial) (engine.Took, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, trial, errors.New("it took too long"))
	defer cancel()
	return ask.Run(ctx, row.Stage, row.engine)
}

// measuredEngine is how soon an engine connected and answered.
type measuredEngine struct {
	Name    string `json:"name"`
	Stage   string `json:"stage"`
	Times   int    `json:"times"` // that it was asked
	Failed  int    `json:"failed"`
	Error   string `json:"error,omitempty"` // of the last that failed
	Connect spread `json:"connect_ms"`
	First   spread `json:"first_ms"`
}

// spread is a distribution in ms.
type spread struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
}

// spreadOf sorts durations; those that are 0 do not count.
func spreadOf(list []time.Duration) spread {
	list = slices.DeleteFunc(list, func(d time.Duration) bool { return d == 0 })
	slices.Sort(list)
	at := func(q float64) float64 { return float64(bench.Quantile(list, q).Microseconds()) / 1000 }
	return spread{at(0.5), at(0.9), at(0.99)}
}

// measureEngine asks an engine several times, or until there is no sense in asking again. asked is called each time.
func measureEngine(ctx context.Context, row engineRow, ask engine.Trial, times int, asked func(n int)) measuredEngine {
	m := measuredEngine{Name: row.Name, Stage: row.Stage}
	var connect, first []time.Duration
	for m.Times < times && ctx.Err() == nil {
		took, err := runTrial(ctx, row, ask)
		m.Times++
		asked(m.Times)
		if err != nil {
			m.Failed, m.Error = m.Failed+1, err.Error()
			if f := inference.FaultOf(err); f != inference.ErrFailed {
				break // it refuses us, or wants to be left alone
			}
			continue
		}
		connect, first = append(connect, took.Connect), append(first, took.First)
	}
	m.Connect, m.First = spreadOf(connect), spreadOf(first)
	return m
}

// printMeasured prints a table for people, and below it why engines failed.
func printMeasured(w io.Writer, all []measuredEngine) {
	fmt.Fprintln(w, "NAME\tSTAGE\tTIMES\tFAILED\tCONNECT P50\tP90\tP99\tFIRST P50\tP90\tP99\t(MS)")
	for _, m := range all {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t\n", m.Name, m.Stage, m.Times, m.Failed,
			m.Connect.P50, m.Connect.P90, m.Connect.P99, m.First.P50, m.First.P90, m.First.P99)
	}
	for _, m := range all {
		if m.Error != "" {
			fmt.Fprintf(w, "\n%s: %s\n", m.Name, m.Error)
		}
	}
}
