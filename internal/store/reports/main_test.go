package reports_test

import (
	"testing"

	"anodyne.example/anodyne/internal/testwait"
)

func TestMain(m *testing.M) { testwait.Main(m) }
