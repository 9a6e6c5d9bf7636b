package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/cmd/parley/conversation"
	"parley/cmd/parley/engine"
	"parley/cmd/parley/local"
	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/simulate"
	"parley/store"
)

// errUnmet is a simulation in which not all that was expected came about.
var errUnmet = errors.New("not all that was expected came about")

// simulationAnswer is the answer of the simulate command.
type simulationAnswer struct {
	Name    string            `json:"name,omitempty"`
	OK      bool              `json:"ok"`
	Runs    int               `json:"runs"`
	Failed  int               `json:"failed"`
	Results []simulate.Result `json:"results"`
}

func newSimulateCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "simulate SCRIPT", Short: "Have a scripted caller try an agent, and check what it says",
		Long: "Plays a call of a scripted caller with an agent through the server's conductor and model, without telephone, recogniser and voice\n" +
			"and faster than time passes: prompts, turn-taking and functions can be tried after each change. The script, YAML or JSON, says\n" +
			"what the caller says, when they pause, talk over the agent, press keys and hang up, what functions give, and what is expected;\n" +
			"--schema prints its JSON Schema. None of the agent's functions is really called. With runs above 1 the times vary by chance,\n" +
			"the same for the same seed. The model is that of the settings (PARLEY_LLM). Exit status 1 when an expectation is not met.",
		Example: "  parley simulate booking.yaml --file agent.yaml\n  parley simulate booking.yaml --account acc_… --agent ag_… --runs 100 --seed 7",
		Args: func(cmd *cobra.Command, args []string) error {
			if describe, _ := cmd.Flags().GetBool("schema"); len(args) != 1 && !describe {
				return errors.New("needs the script")
			}
			return nil
		}}
	local.ConfigFlag(cmd)
	agentFlags(cmd)
	from := cmd.Flags().String("agent", "", "try this agent of the --account, with --file and flags over it")
	account := cmd.Flags().String("account", "", "whose agent it is")
	cmd.MarkFlagsRequiredTogether("agent", "account")
	runs := cmd.Flags().Int("runs", 0, "how often, in place of what the script says")
	seed := cmd.Flags().Uint64("seed", 0, "of chance, in place of the script's")
	events := cmd.Flags().Bool("events", false, "print the whole log of each run")
	describe := cmd.Flags().Bool("schema", false, "print the JSON Schema of scripts, and do nothing else")
	return command.Interruptible(cmd, command.OneObject, func(j *command.Job, args []string) error {
		if *describe {
			return command.Encode(j.OutOrStdout(), simulate.Schema)
		}
		text, err := os.ReadFile(args[0])
		if err != nil {
			return err
		}
		s, err := simulate.Parse(text)
		if err != nil {
			return command.UsageError(fmt.Sprintf("%s: %v", args[0], err))
		}
		if *runs > 0 {
			s.Runs = *runs
		}
		if cmd.Flags().Changed("seed") {
			s.Seed = *seed
		}
		subject, err := simulationSubject(j, s, *account, *from)
		if err != nil {
			return err
		}
		return simulateAll(j, s, subject, *events)
	})
}

// simulationSubject is the agent that is tried: a new one, or that of an account, changed
// by what the command line says.
func simulationSubject(j *command.Job, s *simulate.Script, account, from string) (subject simulate.Subject, err error) {
	cfg, _, err := local.Config(j.Command)
	if err != nil {
		return subject, err
	}
	a := conversation.NewAgent()
	if from != "" {
		if a, err = storedAgent(j, account, from); err != nil {
			return subject, err
		}
	}
	a.Name = cmp.Or(a.Name, "simulated")
	if err := applyFlags(j.Command, &a); err != nil {
		return subject, err
	}
	r := conversation.Rehearsal{Model: func(wanted *agent.Engines) (inference.LLM, error) { return engine.Model(cfg, wanted) }, Log: local.Logger(j.ErrOrStderr(), cfg)}
	if from != "" {
		r.Other = func(id string) (*store.Agent, error) {
			other, err := storedAgent(j, account, id)
			return &other, err
		}
	}
	return r.Subject(&a, s)
}

// storedAgent is an agent of the server's database.
func storedAgent(j *command.Job, account, id string) (a store.Agent, err error) {
	err = withStore(j, func(db *store.DB) error {
		ctx, cancel := context.WithTimeout(j.Ctx, timeout)
		defer cancel()
		found, err := db.Agent(ctx, account, id)
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		a = *found
		return nil
	})
	return a, err
}

func simulateAll(j *command.Job, s *simulate.Script, subject simulate.Subject, events bool) error {
	answer := simulationAnswer{Name: s.Name, Runs: s.Runs, Results: []simulate.Result{}}
	out := j.OutOrStdout()
	for run := 1; run <= s.Runs && j.Ctx.Err() == nil; run++ {
		r := simulate.Run(j.Ctx, s, subject, run)
		if !r.OK {
			answer.Failed++
		}
		if !j.JSON && (s.Runs == 1 || !r.OK || events) {
			if err := showSimulation(out, s, &r, events); err != nil {
				return err
			}
		}
		if !events {
			r.Events = nil
		}
		answer.Results = append(answer.Results, r)
	}
	if err := j.Ctx.Err(); err != nil {
		return err
	}
	answer.OK = answer.Failed == 0
	text := ""
	if s.Runs > 1 {
		text = fmt.Sprintf("%d of %d runs as expected\n", s.Runs-answer.Failed, s.Runs)
	}
	if err := j.AnswerText(answer, text); err != nil {
		return err
	}
	if !answer.OK {
		return errUnmet
	}
	return nil
}

// showSimulation prints a run for people.
func showSimulation(w io.Writer, s *simulate.Script, r *simulate.Result, events bool) error {
	var b strings.Builder
	if s.Runs > 1 {
		fmt.Fprintf(&b, "run %d\n", r.Run)
	}
	if events {
		for i := range r.Events {
			b.WriteString(r.Events[i].String() + "\n")
		}
	} else {
		functions := r.Functions
		calls := func(until int64) {
			for ; len(functions) > 0 && functions[0].AtMS <= until; functions = functions[1:] {
				fmt.Fprintf(&b, "%8.2f  calls   %s %s\n", float64(functions[0].AtMS)/1000, functions[0].Name, functions[0].Arguments)
			}
		}
		for _, l := range r.Lines {
			calls(l.AtMS)
			role := map[string]string{"user": "caller", "agent": "agent"}[l.Role]
			fmt.Fprintf(&b, "%8.2f  %-6s  %s\n", float64(l.AtMS)/1000, role, l.Text)
		}
		calls(math.MaxInt64)
		fmt.Fprintf(&b, "%8.2f  ended   %s\n", float64(r.LengthMS)/1000, strings.TrimSuffix(r.Ended+": "+r.Detail, ": "))
	}
	for _, t := range r.Turns {
		fmt.Fprintf(&b, "turn %d answered after %d ms: endpoint %d, model %d, voice %d\n", t.Turn, t.TotalMS, t.EndpointMS, t.ModelMS, t.VoiceMS)
	}
	for _, f := range r.Faults {
		fmt.Fprintf(&b, "fault: %s\n", f)
	}
	for _, c := range r.Checks {
		if c.OK {
			fmt.Fprintf(&b, "ok    %s\n", c.Expected)
		} else {
			fmt.Fprintf(&b, "FAIL  %s; found %s\n", c.Expected, c.Found)
		}
	}
	if r.Problem != "" {
		fmt.Fprintf(&b, "FAIL  %s\n", r.Problem)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
