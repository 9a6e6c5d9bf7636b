package engine

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"parley/cmd/parley/config"
	"parley/inference/model"
	"parley/inference/smartturn"
	"parley/inference/supertonic"
)

// Neural makes the engines that ONNX Runtime runs, of models that the operator has brought. They
// work while they run, in processes of their own.
type Neural struct {
	library string // empty: the system's
	models  model.Store
	log     *slog.Logger
}

// NewNeural looks for ONNX Runtime and models where the settings say they are.
func NewNeural(cfg *config.Config, log *slog.Logger) *Neural {
	return &Neural{library: absolute(cmp.Or(cfg.ONNXLibrary, besideProgram())), models: model.Store{Dir: absolute(cmp.Or(cfg.ModelsDir, filepath.Join(cfg.DataDir, "models")))}, log: log}
}

// absolute is a path for workers, which have another working directory.
func absolute(path string) string {
	if whole, err := filepath.Abs(path); path != "" && err == nil {
		return whole
	}
	return path
}

// besideProgram is where make onnx puts ONNX Runtime; empty: it is not there.
func besideProgram() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	path := filepath.Join(filepath.Dir(self), "onnx", "libonnxruntime.so.1")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// open finds the model of an engine, which must be of a kind, as its manifest says.
func (n *Neural) open(e config.Engine, kind string) (*model.Model, error) {
	m, err := n.models.Installed(e.Model)
	if err != nil {
		return nil, fmt.Errorf("%s: model: %w", e.Name, err)
	}
	if m.Engine != e.Vendor+"/"+kind {
		return nil, fmt.Errorf("%s: the model %s is for %s, and %s/%s is needed", e.Name, m.Ref(), m.Engine, e.Vendor, kind)
	}
	return m, nil
}

// Turns makes an engine that judges whether a turn has ended.
func (n *Neural) Turns(e config.Engine) (*smartturn.Engine, error) {
	m, err := n.open(e, "smart-turn")
	if err != nil {
		return nil, err
	}
	var graphs []string
	for _, f := range m.Files {
		if strings.HasSuffix(f.Path, ".onnx") {
			graphs = append(graphs, filepath.Join(m.Dir, filepath.FromSlash(f.Path)))
		}
	}
	if len(graphs) != 1 {
		return nil, fmt.Errorf("%s: the model %s has %d files that end in .onnx, and one is needed", e.Name, m.Ref(), len(graphs))
	}
	return smartturn.New(smartturn.Config{Name: e.Name, Library: n.library, Model: graphs[0], Log: n.log}), nil
}

// Voice makes an engine that speaks.
func (n *Neural) Voice(e config.Engine) (*supertonic.Engine, error) {
	m, err := n.open(e, "supertonic")
	if err != nil {
		return nil, err
	}
	steps, ok := m.Settings["steps"].(int)
	if m.Settings["steps"] != nil && (!ok || steps < 1 || steps > maxSteps) {
		return nil, fmt.Errorf("%s: settings.steps of the model %s is not allowed; allowed: a whole number from 1 to %d", e.Name, m.Ref(), maxSteps)
	}
	return supertonic.New(supertonic.Config{Name: e.Name, Library: n.library, Dir: m.Dir, Steps: steps, Log: n.log}), nil
}

// maxSteps is how often a voice takes noise off at most; more does not sound better.
const maxSteps = 12
