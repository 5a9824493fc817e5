"""ModelArts' documents: request bodies of both generations, the ToolKit's form, engines and flavors; pure."""
