module anodyne.example/anodyne/client

go 1.26.0
