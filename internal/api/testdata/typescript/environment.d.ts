declare const process: { env: { ANODYNE_URL: string; ANODYNE_TOKEN: string }; exitCode: number };
