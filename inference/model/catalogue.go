package model

import (
	"bytes"
	_ "embed"
	"sync"
)

//go:embed catalogue.yaml
var catalogueText []byte

var catalogue = sync.OnceValue(func() []*Manifest {
	all, err := readCatalogue(catalogueText)
	if err != nil {
		panic("model: the catalogue: " + err.Error()) // a test reads it, so this never ships
	}
	return all
})

// Catalogue is the models that the program knows by itself. It belongs to this package: nobody changes it.
func Catalogue() []*Manifest { return catalogue() }

// readCatalogue reads a list of manifests. Those of embedded models say so, the files of others have addresses.
func readCatalogue(text []byte) (all []*Manifest, err error) {
	if err := decode(bytes.NewReader(text), &all); err != nil {
		return nil, err
	}
	for _, m := range all {
		if err := m.complete(); err != nil {
			return nil, err
		}
		for _, f := range m.Files {
			if m.Embedded != (len(f.URLs) == 0) {
				return nil, wrong(m.ID+": "+f.Path, "has no address, or is embedded and has one")
			}
		}
	}
	return all, nil
}
