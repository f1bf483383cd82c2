from seedcat.cli import main

if __name__ == "__main__":
    main()
