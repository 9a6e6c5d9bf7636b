package models

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/cmd/parley/local"
	"parley/inference/model"
)

// How patient downloads are.
const (
	pause = time.Second
	stall = 30 * time.Second
)

// acceptFlag adds the flag by which a script accepts the licence of a model.
func acceptFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("accept-licence", "", "accept the licence of the model with this `ID` without being asked")
}

func newPullCommand(catalogue []*model.Manifest) *cobra.Command {
	pull := &cobra.Command{Use: "pull MODEL", Short: "Bring the files of a model",
		Long: "Downloads what is missing of the model or damaged, and goes on where an earlier attempt ended. It shows the licence and asks where that must be accepted.\n" +
			"PARLEY_MODELS_URL names a mirror: PARLEY_MODELS_URL/ID/VERSION/PATH has the files, as they lie in the store. With --from there is no network:\n" +
			"the files come from an archive of parley models pack, or from a directory. Exit status 3 when the licence was not accepted.",
		Example: "  parley models pull my-turns --accept-licence my-turns\n  parley models pull my-turns --from my-turns.tar", Args: cobra.ExactArgs(1)}
	from := pull.Flags().String("from", "", "archive or directory to take the files from; - is an archive on standard input")
	accept := acceptFlag(pull)
	return runs(pull, catalogue, withProgress, func(s *session, args []string) error {
		if *from == "" {
			m, err := s.store.Find(args[0])
			if err != nil {
				return fmt.Errorf("%w; parley models add brings one with a manifest of your own", err)
			}
			return s.bring(m.Manifest, s.web(), *accept)
		}
		source, m, done, err := s.offline(*from)
		if err != nil {
			return err
		}
		defer done()
		if m == nil { // a directory with nothing but the files
			known, err := s.store.Find(args[0])
			if err != nil {
				return fmt.Errorf("%w, and %s has no manifest", err, *from)
			}
			m = known.Manifest
		}
		if m.ID != args[0] && m.Ref() != args[0] {
			return fmt.Errorf("%s has %s", *from, m.Ref())
		}
		return s.bring(m, source, *accept)
	})
}

func newAddCommand(catalogue []*model.Manifest) *cobra.Command {
	add := &cobra.Command{Use: "add --manifest FILE [DIR]", Short: "Add a model of your own by its manifest",
		Long: "Copies the files that the manifest names from DIR into the store; without DIR they are downloaded from the addresses in the manifest. parley models manifest\n" +
			"prints a manifest to start from.",
		Example: "  parley models add --manifest my-turns.yaml\n  parley models add --manifest voice.yaml ./voice", Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}}
	manifest := add.Flags().String("manifest", "", "YAML file that says what the model is and names its files")
	_ = add.MarkFlagRequired("manifest")
	accept := acceptFlag(add)
	return runs(add, catalogue, withProgress, func(s *session, args []string) error {
		f, err := os.Open(*manifest)
		if err != nil {
			return err
		}
		defer f.Close()
		m, err := model.ReadManifest(f)
		if err != nil {
			return fmt.Errorf("%s: %w", *manifest, err)
		}
		if len(args) == 0 {
			return s.bring(m, s.web(), *accept)
		}
		return s.bring(m, model.Directory(args[0]), *accept)
	})
}

func (s *session) web() model.Source {
	return &model.Web{Mirror: s.cfg.ModelsURL, Pause: pause, Stall: stall}
}

// offline opens an archive or a directory. The manifest is nil when a directory has none.
func (s *session) offline(path string) (source model.Source, m *model.Manifest, done func(), err error) {
	in, done := s.InOrStdin(), func() {}
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, nil, nil, err
		}
		if info, err := f.Stat(); err == nil && info.IsDir() {
			f.Close()
			m, err := model.Directory(path).Manifest()
			return model.Directory(path), m, done, err
		}
		in, done = f, func() { f.Close() }
	}
	archive, err := model.OpenArchive(in)
	if err != nil {
		done()
		return nil, nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return archive, archive.Manifest, done, nil
}

// bring installs a model; accept is the one whose licence the command line accepts.
func (s *session) bring(m *model.Manifest, from model.Source, accept string) error {
	m, err := s.store.Resolve(m)
	if err != nil {
		return err
	}
	if m.Embedded {
		return s.AnswerText(s.row(&model.Model{Manifest: m, State: model.Embedded}), m.Ref()+" is part of the program; there is nothing to bring\n")
	}
	if dataDir, _ := local.DataDir(s.cfg); s.store.Dir == filepath.Join(dataDir, "models") {
		if err := local.MakeDataDir(dataDir); err != nil {
			return err
		}
	}
	if !s.JSON {
		fmt.Fprint(s.ErrOrStderr(), terms(m))
	}
	show := command.NewProgress(s.Command, s.JSON)
	defer show.End()
	brought, err := s.store.Install(s.Ctx, model.Request{Manifest: m, From: from, Show: show.Step,
		Accept: func() (string, error) { return s.accept(m, accept) }})
	show.End()
	if err != nil {
		return fmt.Errorf("%s was not installed: %w", m.Ref(), err)
	}
	there, err := s.store.Find(m.Ref())
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s is complete; nothing was brought\n", m.Ref())
	if brought > 0 {
		text = fmt.Sprintf("%s is installed in %s; %s were brought\n", m.Ref(), there.Dir, size(brought))
	}
	return s.AnswerText(struct {
		row
		Brought int64 `json:"bytes_brought"`
	}{s.row(there), brought}, text)
}

// terms is what a person reads of a model before it is brought.
func terms(m *model.Manifest) string {
	l := m.Licence
	text := fmt.Sprintf("%s, for %s, %s. Licence: %s", m.Ref(), m.Stage, size(m.Bytes()), l.Name)
	if l.SHA256 != "" {
		text += ", whose text has the SHA-256 " + l.SHA256
	}
	for _, more := range []string{l.Conditions, l.Text} {
		if more != "" {
			text += "\n" + strings.TrimRight(more, "\n")
		}
	}
	return text + "\n"
}

// accept asks whether the licence is accepted, unless the command line says so, and says by whom.
func (s *session) accept(m *model.Manifest, given string) (by string, err error) {
	if given != m.ID {
		if s.JSON || !command.IsTerminal(s.InOrStdin()) {
			return "", fmt.Errorf("%w: read it, and accept it by --accept-licence %s", model.ErrLicence, m.ID)
		}
		fmt.Fprintf(s.ErrOrStderr(), "Type yes to accept the licence %s: ", m.Licence.Name)
		answer, err := readLine(s.Ctx, s.InOrStdin())
		if err != nil {
			return "", err
		}
		if !strings.EqualFold(answer, "yes") {
			return "", model.ErrLicence
		}
	}
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return u.Username, nil
}

// readLine reads a line, without the blanks around it, unless ctx ends. What is then still read ends with the process.
func readLine(ctx context.Context, in io.Reader) (string, error) {
	lines := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n') // the end is an empty line
		lines <- strings.TrimSpace(line)
	}()
	select {
	case line := <-lines:
		return line, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func newPackCommand(catalogue []*model.Manifest) *cobra.Command {
	pack := &cobra.Command{Use: "pack MODEL -o FILE", Short: "Write a model as an archive for a machine without a network",
		Long:    "Writes the manifest and the files of an installed model as a tar, for parley models pull --from. The licence is accepted again where that is done.",
		Example: "  parley models pack my-turns -o my-turns.tar", Args: cobra.ExactArgs(1)}
	out := pack.Flags().StringP("out", "o", "", "archive to write; - is standard output")
	_ = pack.MarkFlagRequired("out")
	return runs(pack, catalogue, withProgress, func(s *session, args []string) error {
		m, err := s.store.Find(args[0])
		if err != nil {
			return err
		}
		if m.State == model.Embedded {
			return fmt.Errorf("%s is part of the program: every machine that has that has it", m.Ref())
		}
		show := command.NewProgress(s.Command, s.JSON)
		defer show.End()
		if *out == "-" {
			if s.JSON || command.IsTerminal(s.OutOrStdout()) {
				return command.UsageError("an archive goes to a pipe or, by --out FILE, to a file")
			}
			return s.store.Pack(s.Ctx, m, s.OutOrStdout(), show.Step)
		}
		// It appears when it is complete.
		f, err := os.Create(*out + ".part")
		if err != nil {
			return err
		}
		err = errors.Join(s.store.Pack(s.Ctx, m, f, show.Step), f.Sync(), f.Close())
		show.End()
		if err == nil {
			err = os.Rename(f.Name(), *out)
		}
		if err != nil {
			os.Remove(f.Name())
			return err
		}
		return s.Done(map[string]any{"id": m.ID, "version": m.Version, "archive": *out}, "packed %s in %s\n", m.Ref(), *out)
	})
}
