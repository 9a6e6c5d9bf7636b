// Package models has the commands for the files of neural models: what there is, bringing them, taking them to a machine
// without a network, checking and removing them.
package models

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/cmd/parley/config"
	"parley/cmd/parley/local"
	"parley/inference/model"
)

// withProgress is what --json prints where something is brought.
const withProgress = "print one JSON object, and progress as JSON lines on standard error"

// Command is the models command with all under it, for the models of the program's catalogue.
func Command() *cobra.Command { return newCommand(model.Catalogue()) }

func newCommand(catalogue []*model.Manifest) *cobra.Command {
	return command.Group("models", "List, bring, pack and check the files of neural models",
		"Neural models lie in models in the data directory, or in PARLEY_MODELS_DIR. Each has a manifest with the size and the SHA-256 of its files, and\n"+
			"what brings them is held to that. Some models are part of the program. To use one on a machine without a network: pack it on another,\n"+
			"pull --from the archive there. A MODEL is an ID, or ID@VERSION where there are several versions.",
		"  parley models list\n  parley models add --manifest my-turns.yaml",
		newListCommand(catalogue), newPullCommand(catalogue), newAddCommand(catalogue), newManifestCommand(catalogue), newPackCommand(catalogue),
		newVerifyCommand(catalogue), newRemoveCommand(catalogue))
}

// ExitStatus is the exit status for a licence that was not accepted, 0 for other errors.
func ExitStatus(err error) int {
	if errors.Is(err, model.ErrLicence) {
		return command.ExitRefused
	}
	return command.ExitDone
}

// session is one command at work.
type session struct {
	*command.Job
	cfg   *config.Config
	store *model.Store
}

// runs makes cmd a command on the store of models; each of its arguments names one.
func runs(cmd *cobra.Command, catalogue []*model.Manifest, jsonHelp string, run func(s *session, args []string) error) *cobra.Command {
	local.ConfigFlag(cmd)
	open := func(cmd *cobra.Command) (*config.Config, *model.Store, error) {
		cfg, _, err := local.Config(cmd)
		if err != nil {
			return nil, nil, err
		}
		return cfg, &model.Store{Dir: cfg.ModelsDir, Catalogue: catalogue}, nil
	}
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, _ []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
			if _, store, err := open(cmd); err == nil {
				all, _ := store.List() // a shell's prompt is no place for errors
				for _, m := range all {
					ids = append(ids, m.ID)
				}
			}
			return slices.Compact(ids), cobra.ShellCompDirectiveNoFileComp
		}
	}
	return command.Interruptible(cmd, jsonHelp, func(j *command.Job, args []string) error {
		cfg, store, err := open(j.Command)
		if err != nil {
			return err
		}
		return run(&session{j, cfg, store}, args)
	})
}

// users names what would load the model: the engines of the settings and the file whose vendor and model are its own, and for one
// that is part of the program the setting that chooses it.
func users(cfg *config.Config, m *model.Manifest) (names []string) {
	vendor, _, _ := strings.Cut(m.Engine, "/")
	if m.Embedded {
		for name, engines := range map[string][]string{"vad": cfg.VAD, "denoise": cfg.Denoise} {
			if m.Stage == name && slices.Contains(engines, vendor) {
				names = append(names, name)
			}
		}
		return names
	}
	for _, stage := range []*config.Stage{&cfg.ASR, &cfg.LLM, &cfg.TTS, &cfg.Realtime, &cfg.Turn} {
		for _, e := range stage.All() {
			chosen := func(name string) bool { return name == m.ID || name == m.Ref() }
			if e.Vendor == vendor && (chosen(e.Model) || slices.ContainsFunc(e.Models, chosen)) {
				names = append(names, e.Name)
			}
		}
	}
	return names
}

// row is a model as commands show it.
type row struct {
	ID       string      `json:"id"`
	Version  string      `json:"version"`
	Stage    string      `json:"stage"`
	Engine   string      `json:"engine"`
	State    model.State `json:"state"`
	Bytes    int64       `json:"bytes"`
	Have     int64       `json:"bytes_present"`
	MemoryMB int         `json:"memory_mb,omitempty"`
	Licence  string      `json:"licence"`
	Dir      string      `json:"dir,omitempty"`
	UsedBy   []string    `json:"used_by"`
}

func (s *session) row(m *model.Model) row {
	used := users(s.cfg, m.Manifest)
	if used == nil {
		used = []string{}
	}
	return row{m.ID, m.Version, m.Stage, m.Engine, m.State, m.Bytes(), m.Have, m.MemoryMB, m.Licence.Name, m.Dir, used}
}

// state is it for a person.
func (r row) state() string {
	if r.State == model.Partial {
		return fmt.Sprintf("%s, %d %%", r.State, 100*r.Have/max(1, r.Bytes))
	}
	return string(r.State)
}

func newListCommand(catalogue []*model.Manifest) *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "List the models that are known and how much of each is there",
		Long: "Lists the models of the program's catalogue and of the store. embedded is part of the program, absent is not here yet, partial was begun, installed is\n" +
			"complete, broken has lost files. Files are looked at by their sizes; parley models verify reads them. The last column names the engines and\n" +
			"settings that use the model.",
		Example: "  parley models list --json", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions}
	return runs(list, catalogue, command.OneObject, func(s *session, _ []string) error {
		all, err := s.store.List()
		if err != nil {
			return err
		}
		rows := make([]row, len(all))
		for i := range all {
			rows[i] = s.row(&all[i])
		}
		return s.Answer(map[string]any{"models": rows}, func(w io.Writer) {
			fmt.Fprintln(w, "ID\tVERSION\tSTAGE\tSIZE\tSTATE\tLICENCE\tUSED BY")
			for _, r := range rows {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.Version, r.Stage, size(r.Bytes), r.state(), r.Licence, strings.Join(r.UsedBy, ", "))
			}
		})
	})
}

// size is a number of bytes for a person.
func size(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

func newManifestCommand(catalogue []*model.Manifest) *cobra.Command {
	return runs(&cobra.Command{Use: "manifest MODEL", Short: "Print the manifest of a model",
		Long:    "Prints what the model is as YAML: its licence, its files with sizes, SHA-256 and addresses, the engine that runs it and its settings.",
		Example: "  parley models manifest silero-vad > silero-vad.yaml", Args: cobra.ExactArgs(1)}, catalogue, command.OneObject,
		func(s *session, args []string) error {
			m, err := s.store.Find(args[0])
			if err != nil {
				return err
			}
			text, err := m.Encode()
			if err != nil {
				return err
			}
			return s.AnswerText(map[string]any{"id": m.ID, "version": m.Version, "manifest": string(text)}, string(text))
		})
}

func newVerifyCommand(catalogue []*model.Manifest) *cobra.Command {
	return runs(&cobra.Command{Use: "verify [MODEL...]", Short: "Read all files of models and compare them with their SHA-256",
		Long:    "Reads the files of the models, or of all in the store, and names those that are missing or damaged. Exit status 1 when there are any; parley models pull\nbrings them again.",
		Example: "  parley models verify\n  parley models verify my-turns --json"}, catalogue, withProgress, (*session).verify)
}

// checked is what the verification of a model found.
type checked struct {
	ID      string      `json:"id"`
	Version string      `json:"version"`
	State   model.State `json:"state"`
	Damaged []string    `json:"damaged"`
}

func (s *session) verify(refs []string) error {
	var all []model.Model
	for _, ref := range refs {
		m, err := s.store.Find(ref)
		if err != nil {
			return err
		}
		all = append(all, *m)
	}
	if len(refs) == 0 {
		var err error
		if all, err = s.store.List(); err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(m model.Model) bool { return m.State == model.Embedded || m.State == model.Absent })
	}
	found, bad := []checked{}, 0
	show := command.NewProgress(s.Command, s.JSON)
	defer show.End()
	for i := range all {
		m := &all[i]
		c := checked{m.ID, m.Version, m.State, []string{}}
		if m.State != model.Embedded {
			damaged, err := s.store.Verify(s.Ctx, m, show.Step)
			if err != nil {
				return err
			}
			if c.Damaged = append(c.Damaged, damaged...); len(damaged) > 0 && m.State == model.Installed {
				c.State = model.Broken
			}
			if c.State != model.Installed {
				bad++
			}
		}
		found = append(found, c)
	}
	show.End()
	err := s.Answer(map[string]any{"ok": bad == 0, "models": found}, func(w io.Writer) {
		for _, c := range found {
			fmt.Fprintf(w, "%s@%s\t%s\t%s\n", c.ID, c.Version, c.State, strings.Join(c.Damaged, ", "))
		}
	})
	if err == nil && bad > 0 {
		err = fmt.Errorf("%d of %d models are not in order: parley models pull brings what is missing", bad, len(found))
	}
	return err
}

func newRemoveCommand(catalogue []*model.Manifest) *cobra.Command {
	rm := &cobra.Command{Use: "rm MODEL", Short: "Delete the files of a model",
		Long: "Deletes what there is of the model. A model that an engine of the settings uses stays, unless --force is there.", Example: "  parley models rm my-turns", Args: cobra.ExactArgs(1)}
	force := rm.Flags().Bool("force", false, "delete it although an engine uses it")
	return runs(rm, catalogue, command.OneObject, func(s *session, args []string) error {
		m, err := s.store.Find(args[0])
		if err != nil {
			return err
		}
		if used := users(s.cfg, m.Manifest); len(used) > 0 && !*force && m.State != model.Embedded {
			return fmt.Errorf("%s is in use by %s: take it out of the settings first, or use --force", m.Ref(), strings.Join(used, ", "))
		}
		if err := s.store.Remove(m); err != nil {
			return err
		}
		return s.AnswerText(map[string]any{"id": m.ID, "version": m.Version, "deleted": true}, "deleted "+m.Ref()+"\n")
	})
}
