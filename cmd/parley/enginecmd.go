package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/cmd/parley/config"
	"parley/cmd/parley/engine"
	"parley/cmd/parley/local"
)

// trial is how long one engine may take to show that it works.
const trial = 15 * time.Second

func newEngineCommand() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "List the speech and language engines that a server would have",
		Long: "Lists the engines of the settings and of the file's list, in the order in which they are tried; after those that are the default, the ones that\n" +
			"agents may name. Nobody is asked; parley engine test does that.",
		Example: "  parley engine list --config parley.yaml", Args: cobra.NoArgs}
	local.SettingFlags(list)
	test := &cobra.Command{Use: "test NAME", Short: "Ask one engine of a vendor for a word, and say how long that took",
		Long: "Asks the engine for as little as shows that it works: half a second of silence is recognised, yes is answered or spoken. The vendor charges for that.\n" +
			"Exit status 1 when it failed.",
		Example: "  parley engine test flux --config parley.yaml", Args: cobra.ExactArgs(1)}
	local.SettingFlags(test)
	return command.Group("engine", "List, try, measure and record the speech and language engines", "Engines are set by asr, llm and tts, and by the file's list of engines.",
		"  parley engine list",
		command.Runs(list, command.OneObject, func(j *command.Job, _ []string) error {
			all, err := listEngines(j)
			if err != nil {
				return err
			}
			return j.Answer(map[string]any{"engines": all}, func(w io.Writer) {
				fmt.Fprintln(w, "NAME\tSTAGE\tVENDOR\tMODEL\tDEFAULT\tTRIED")
				for _, e := range all {
					byDefault := ""
					if e.Default {
						byDefault = "yes"
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", e.Name, e.Stage, e.Vendor, e.Model, byDefault, e.Tried)
				}
			})
		}),
		command.Interruptible(test, command.OneObject, func(j *command.Job, args []string) error {
			all, err := listEngines(j)
			if err != nil {
				return err
			}
			e, err := named(all, args[0])
			if err != nil {
				return err
			}
			return tryEngine(j, e)
		}), newEngineBench(), newEngineRecord())
}

// named is the engine of that name, which has a key here if it needs one.
func named(all []engineRow, name string) (engineRow, error) {
	for _, e := range all {
		switch {
		case e.Name == name && e.engine.AccountKeys:
			return e, fmt.Errorf("%s works with keys of accounts, who test them: POST /v1/engine-keys/%s/test", name, name)
		case e.Name == name:
			return e, nil
		}
	}
	return engineRow{}, fmt.Errorf("there is no engine %q; parley engine list says which there are", name)
}

// engineRow is an engine as parley engine list shows it.
type engineRow struct {
	Name    string `json:"name"`
	Stage   string `json:"stage"`
	Vendor  string `json:"vendor"`
	Model   string `json:"model,omitempty"`
	Default bool   `json:"default"` // it serves agents that name no other
	Tried   string `json:"tried"`
	engine  config.Engine
}

func listEngines(j *command.Job) (all []engineRow, err error) {
	cfg, _, err := local.Config(j.Command)
	if err != nil {
		return nil, err
	}
	for _, s := range []struct {
		name string
		config.Stage
	}{{"asr", cfg.ASR}, {"llm", cfg.LLM}, {"tts", cfg.TTS}, {"realtime", cfg.Realtime}, {"turn", cfg.Turn}} {
		for i, e := range s.All() {
			row := engineRow{e.Name, s.name, e.Vendor, e.Model, i < len(s.Engines), "yes", e}
			if e.Unproven() {
				row.Tried = "tried against a fake only"
			}
			all = append(all, row)
		}
	}
	return all, nil
}

// tryEngine asks one engine.
func tryEngine(j *command.Job, e engineRow) error {
	ctx, cancel := context.WithTimeoutCause(j.Ctx, trial, errors.New("it took too long"))
	defer cancel()
	began := time.Now()
	if err := engine.Try(ctx, e.Stage, e.engine); err != nil {
		return err
	}
	took := time.Since(began)
	return j.AnswerText(map[string]any{"ok": true, "name": e.Name, "took_ms": took.Milliseconds()}, fmt.Sprintf("%s works; that took %d ms\n", e.Name, took.Milliseconds()))
}
